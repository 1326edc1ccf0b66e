//! `pinhole module run`: an op's module on recorded answers, or on a stand-in, through the whole path of a call.

use std::path::PathBuf;

use pinhole_grant::Secret;
use pinhole_manifest::cases::{Case, CaseName, Expect};
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Access, Manifest};
use pinhole_runtime::catalog::{Catalog, ModuleFiles, Source};
use pinhole_runtime::outcome::Verdict;
use pinhole_runtime::replay::{Answers, Rehearsal, Rehearsed, SeenAnswer, rehearse};
use pinhole_runtime::sandbox::Sandbox;
use serde_json::{Value, json};

use super::args::RunFlags;
use super::project::Project;
use super::{component, loads, record, source};
use crate::config::Config;
use crate::end::{End, Failure};
use crate::{call, dial, occasion, out, settings};

/// A module's manifest and file, ready to be tried out.
struct Bench<'a> {
    project: &'a Project,
    manifest: Vec<u8>,
    modules: ModuleFiles,
    sandbox: Sandbox,
}

/// What came of a run.
struct Report {
    name: String,
    run: Rehearsed,
    /// Whether the case says what must come of it.
    expects: bool,
    /// What is other than the case says.
    differs: Option<String>,
    written: Option<PathBuf>,
}

pub(super) async fn main(flags: &RunFlags, config: &Config) -> anyhow::Result<End> {
    if flags.dial.resolve.is_empty() && (!flags.values.arg.is_empty() || flags.values.args.is_some()) {
        let message = "args are for a stand-in: recorded answers have their own";
        return Err(Failure::new(
            End::Usage,
            message,
            "pass `--resolve` and `--ca-cert`, or leave the args out",
        )
        .into());
    }
    let project = Project::find(&flags.project)?;
    source::say_if_changed(&project);
    let path = flags.component.clone().unwrap_or_else(|| project.component());
    let (manifest, modules) = project.manifest(component(&path)?, flags.manifest.as_deref())?;
    let loaded = loads(&manifest, &project.spec)?;
    let bench = Bench { project: &project, manifest, modules, sandbox: settings::bench(config) };
    let reports = if flags.dial.resolve.is_empty() {
        bench.recorded(flags).await?
    } else {
        vec![bench.stand_in(flags, &loaded).await?]
    };
    let end = reports.iter().map(ended).find(|end| *end != End::Done).unwrap_or(End::Done);
    if flags.json {
        out::json(&reports.iter().map(as_json).collect::<Result<Vec<_>, _>>()?)?;
    } else {
        reports.iter().for_each(show);
    }
    Ok(end)
}

impl Bench<'_> {
    async fn try_out(&self, args: &str, access: Access, answers: Answers) -> anyhow::Result<Rehearsed> {
        let rehearsal = Rehearsal {
            manifest: &self.manifest,
            modules: self.modules.clone(),
            sandbox: &self.sandbox,
            op: &self.project.op,
            args,
            access,
        };
        Ok(rehearse(rehearsal, answers, &mut occasion::entropy()).await?)
    }

    async fn recorded(&self, flags: &RunFlags) -> anyhow::Result<Vec<Report>> {
        let op = &self.project.op;
        let folder = self.project.cases();
        let files = if flags.cases.is_empty() { record::all(&folder, op)? } else { flags.cases.clone() };
        if files.is_empty() {
            let message = format!("`{}` has no case of `{op}`", folder.display());
            let hint =
                format!("write recorded answers into `{op}.<name>.json`, or pass `--resolve` for a stand-in");
            return Err(Failure::new(End::Usage, message, hint).into());
        }
        let mut reports = Vec::new();
        for file in files {
            let record::Recorded { name, case, expects } = record::read(&file, op)?;
            let Case { args, access, expect, notes, next, exchanges, .. } = case;
            let run = self.try_out(args.as_str(), access, Answers::Recorded(exchanges)).await?;
            let mut differs = if expects { run.holds(&expect, notes.as_deref(), next).err() } else { None };
            let mut written = None;
            if flags.rewrite {
                let refused = matches!(&expect, Expect::Refusal(code) if expects && is_refused(&run, code));
                if !refused && !flags.force {
                    worth_keeping(&run, &name)?;
                }
                record::write(&file, args.as_str(), access, &run)?;
                written = Some(file);
                differs = None;
            }
            let differs = differs.map(|fault| fault.to_string());
            reports.push(Report { name, run, expects, differs, written });
        }
        Ok(reports)
    }

    async fn stand_in(&self, flags: &RunFlags, manifest: &Manifest) -> anyhow::Result<Report> {
        let name = flags.case.clone().unwrap_or_else(|| "stand-in".to_owned());
        let file = format!("{}.{name}.json", self.project.op);
        if CaseName::parse(&file).is_err() {
            let message = format!("`{name}` is no name of a case");
            return Err(Failure::new(End::Usage, message, "write small letters, digits, `-` and `_`").into());
        }
        let mut catalog = Catalog::default();
        catalog.add_with(&self.manifest, Source::UnsignedFile, self.modules.clone())?;
        let client = dial::client(&flags.dial, &catalog)?;
        let args = call::args_text(&flags.values, manifest.op(&self.project.op))?;
        let secret = if flags.token_stdin {
            occasion::token_from_stdin()?
        } else {
            Secret::new("key-for-a-stand-in".to_owned())?
        };
        let run = self.try_out(&args, Access::Read, Answers::StandIn(Box::new(client), secret)).await?;
        let mut written = None;
        if flags.case.is_some() {
            if !flags.force {
                worth_keeping(&run, &name)?;
            }
            let path = self.project.cases().join(file);
            record::write(&path, &args, Access::Read, &run)?;
            written = Some(path);
        }
        Ok(Report { name, run, expects: false, differs: None, written })
    }
}

fn is_refused(run: &Rehearsed, code: &str) -> bool {
    matches!(&run.outcome.verdict, Verdict::Refused(refusal) if refusal.code.as_str() == code)
}

/// Refuses to write down what looks like a mistake: the case that is there may be the better one.
fn worth_keeping(run: &Rehearsed, case: &str) -> anyhow::Result<()> {
    let hint = "look at what it asked for; `--force` writes it down as it went";
    if let Verdict::Refused(refusal) = &run.outcome.verdict {
        let about =
            refusal.untrusted.as_ref().map(|text| format!(" ({})", text.as_str())).unwrap_or_default();
        let message =
            format!("case `{case}`: `{}`: {}{about}; nothing is written", refusal.code, refusal.message);
        return Err(Failure::new(End::Failed, message, hint).into());
    }
    if run.unused > 0 {
        let message =
            format!("case `{case}`: {} recorded answers were not asked for; nothing is written", run.unused);
        return Err(Failure::new(End::Failed, message, hint).into());
    }
    Ok(())
}

fn ended(report: &Report) -> End {
    let asked_in_vain = report.run.exchanges.iter().any(|(_, answer)| *answer == SeenAnswer::NotRecorded);
    if report.differs.is_some() || asked_in_vain { End::Failed } else { End::Done }
}

fn answer(answer: &SeenAnswer) -> String {
    match answer {
        SeenAnswer::Came { status, body, .. } => format!("{status}, {} bytes", body.len()),
        SeenAnswer::NotRecorded => "no answer is recorded to this".to_owned(),
        SeenAnswer::Failed(why) => why.clone(),
        _ => String::new(),
    }
}

fn show(report: &Report) {
    let Report { name, run, expects, differs, written } = report;
    out::line(format_args!("{}.{name}", run.outcome.op));
    for (request, came) in &run.exchanges {
        let line = format!("{request}: {}", answer(came));
        out::line(format_args!("  {}", visible(&line)));
        if let Some(body) = &request.body {
            out::line(format_args!("    {}", visible(body)));
        }
    }
    match &run.outcome.verdict {
        Verdict::Done(picked) => {
            out::line(format_args!("  gives {}", visible(&picked.result.to_string())));
            for note in &picked.notes {
                out::line(format_args!("  dropped, for it is no scalar: {}", visible(note)));
            }
        }
        Verdict::Refused(refusal) => {
            out::line(format_args!("  refused with `{}`: {}", refusal.code, visible(&refusal.message)));
            if let Some(said) = &refusal.untrusted {
                out::line(format_args!("  about: {}", visible(said.as_str())));
            }
        }
    }
    match (differs, written) {
        (Some(differs), _) => out::line(format_args!("  differs: {}", visible(differs))),
        (None, Some(path)) => {
            let path = visible(&path.display().to_string());
            out::line(format_args!("  written to {path}; look it over: it holds what was answered"));
        }
        (None, None) if *expects => out::line("  as the case says"),
        (None, None) => {}
    }
}

fn as_json(report: &Report) -> serde_json::Result<Value> {
    let Report { name, run, expects, differs, written } = report;
    let requests: Vec<Value> = run
        .exchanges
        .iter()
        .map(|(request, came)| {
            json!({
                "method": request.method,
                "path": request.path,
                "query": request.query,
                "headers": request.headers,
                "body": request.body,
                "answer": answer(came),
            })
        })
        .collect();
    Ok(json!({
        "case": name,
        "requests": requests,
        "outcome": serde_json::to_value(&run.outcome)?,
        "unused": run.unused,
        "expects": expects,
        "differs": differs,
        "written": written.as_ref().map(|path| path.display().to_string()),
    }))
}
