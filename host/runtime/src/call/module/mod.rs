//! Ops that a module computes: the same way of a call, on which the module asks for one request after the other.
//!
//! INVARIANT: each of them is held against the manifest's lines first ([`line`]), and then takes the same render,
//! credential, client, caps and tries as the request of any other op. The module never sees the key: what it is given is
//! scrubbed, and so is all that it says. DESIGN, "The way of a call".

mod answers;
mod line;
mod refused;
mod shown;

use std::sync::atomic::AtomicU64;

use pinhole_manifest::model::Module;
use pinhole_manifest::pick::{Pick, Projection};

use self::answers::Asking;
use self::line::Lines;
pub use self::shown::ShownModule;
use super::answer::{Answer, Asked, Judged, Look};
use super::fresh::Keys;
use super::open::Agreed;
use super::page::{OnPage, Said};
use super::{Executor, Trace};
use crate::entropy::seeded;
use crate::net::Sent;
use crate::outcome::{Code, Refusal, UntrustedText};
use crate::project::prune::{Plan, Pruner};
use crate::project::{DocumentError, Tree};
use crate::sandbox::{Fault, Job, Program, Step};
use crate::scrub::Scrub;

/// A module that is ready to run.
#[derive(Debug)]
pub(super) struct Ready<'a> {
    module: &'a Module,
    program: Program,
}

impl<'a> Ready<'a> {
    /// Finds and compiles the module of an op, unless that was done before.
    pub(super) async fn make(
        module: &'a Module,
        agreed: &Agreed<'_>,
        executor: &Executor,
    ) -> Result<Self, Refusal> {
        let (files, name) = (agreed.modules.clone(), module.file.clone());
        let program = executor.sandbox.program(module.sha256, move || files.read(&name)).await;
        // Nothing has been said by anybody yet.
        let program = program.map_err(|fault| refused::refusal(fault, &Scrub::new(&[])))?;
        Ok(Self { module, program })
    }

    /// Runs the module to its end.
    pub(super) async fn compute(
        self,
        page: OnPage<'a>,
        keys: Keys,
        executor: &Executor,
        trace: &mut Trace,
    ) -> Result<Answer<'a, Judged>, Refusal> {
        let mut sent = Sent::No;
        let authorized = &page.authorized;
        let (agreed, args) = (&authorized.agreed, &authorized.args);
        let asking = Asking {
            agreed,
            lines: Lines {
                requests: &self.module.requests,
                args,
                narrowed: agreed.grant().scope().wheres.iter().map(|(arg, _)| arg).collect(),
            },
            keys: &keys,
            bytes_left: AtomicU64::new(executor.sandbox.settings().bytes_in),
        };
        let text =
            self.run(&asking, executor, trace, &mut sent).await.map_err(|refusal| refusal.sent(sent))?;
        let op = agreed.op;
        let document = match &op.pick {
            Pick::None => None,
            Pick::Fields(projection) => Some(
                read(&text, projection)
                    .map_err(|error| Refusal::new(Code::ModuleOutput).sent(sent).detail(&error))?,
            ),
        };
        let manifest = agreed.manifest;
        let look = Look::Pick(Box::new(Asked { page, target: String::new() }));
        let (scrub, stage) = (keys.scrub(), Judged { document, said: Said::Nothing });
        Ok(Answer { manifest, op, look, scrub, now: executor.clock.now(), sent, stage })
    }

    async fn run(
        &self,
        asking: &Asking<'_, 'a>,
        executor: &Executor,
        trace: &mut Trace,
        sent: &mut Sent,
    ) -> Result<String, Refusal> {
        let op = asking.agreed.op;
        let random = self.program.draws().then(|| seeded(&*executor.entropy)).transpose();
        let job = Job {
            random: random.map_err(|error| Refusal::new(Code::SandboxFailed).detail(&error))?,
            op: op.id.to_string(),
            args: asking.lines.args.to_json().to_string(),
            now: executor.clock.now().as_secs(),
            time: trace.left_of(executor, op.limits.timeout_ms),
            result_bytes: op.limits.response_bytes,
        };
        let refused = |fault: Fault| refused::refusal(fault, &asking.keys.scrub());
        let mut run = executor.sandbox.start(&self.program, job);
        loop {
            match run.next().await.map_err(refused)? {
                Step::Asks(requests) => {
                    let answers = asking.answers(&requests, executor, trace, sent).await?;
                    run.answer(answers).map_err(refused)?;
                }
                Step::Says(level, text) => {
                    let text = UntrustedText::new(&asking.keys.scrub().text(&text));
                    tracing::info!(op = %op.id, level, text = text.as_str(), "a module says");
                }
                Step::Done(text) => return Ok(text),
            }
        }
    }
}

/// What a module gave, as far as it is picked.
fn read(text: &str, projection: &Projection) -> Result<Tree, DocumentError> {
    let plan = Plan::new(Some(projection), []);
    let mut pruner = Pruner::new(&plan);
    pruner.feed(text.as_bytes())?;
    pruner.finish()
}
