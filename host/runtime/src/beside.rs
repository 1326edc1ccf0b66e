//! What stands beside a manifest and belongs to it: the files of its modules, looked at as they would be before a call, and
//! none of them compiled or run.
//!
//! Refuses what a call would refuse: a file that is not there, that is another one, or that would not load.

use std::collections::BTreeMap;

use pinhole_manifest::diagnostic::Code;
use pinhole_manifest::model::Action;
use pinhole_manifest::{Digest, Finding, Manifest};

use crate::catalog::ModuleFiles;
use crate::sandbox::inspect;

/// Looks at the module of every op, each file once.
pub fn modules(manifest: &Manifest, files: &ModuleFiles) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, Result<Looked, String>> = BTreeMap::new();
    let mut findings = Vec::new();
    for op in manifest.ops().values() {
        let Action::Module(module) = &op.action else { continue };
        let looked = seen.entry(&module.file).or_insert_with(|| look(files, &module.file));
        let at = |member: &str| format!("/ops/{}/module/{member}", op.id);
        findings.extend(match looked {
            Err(why) => Some(Finding {
                code: Code::ModuleAbsent,
                pointer: at("file"),
                message: format!("`{}`: {why}", module.file),
                help: "build the module, or copy its component there".to_owned(),
            }),
            Ok(looked) if looked.digest != module.sha256 => Some(Finding {
                code: Code::ModuleChanged,
                pointer: at("sha256"),
                message: format!("`{}` has the digest {}", module.file, looked.digest.hex()),
                help: "look at what changed the file; if it is as it should be, write its digest".to_owned(),
            }),
            Ok(Looked { misfit: Some(why), .. }) => Some(Finding {
                code: Code::ModuleUnfit,
                pointer: at("file"),
                message: format!("`{}` would not load: {why}", module.file),
                help: "`pinhole module check` lists what it imports and what it would be allowed".to_owned(),
            }),
            Ok(Looked { misfit: None, .. }) => None,
        });
    }
    findings
}

struct Looked {
    digest: Digest,
    misfit: Option<String>,
}

fn look(files: &ModuleFiles, name: &str) -> Result<Looked, String> {
    let bytes = files.read(name).map_err(|error| error.to_string())?;
    let fits = inspect(&bytes).and_then(|found| found.fits());
    Ok(Looked { digest: Digest::of(&bytes), misfit: fits.err().map(|why| why.to_string()) })
}
