//! A module in an explanation: what computes the op, and what it may ask for in this call.

use pinhole_manifest::Digest;
use pinhole_manifest::model::{Args, Module, ModuleRequest, ModuleSegment};
use serde::Serialize;
use serde_json::Value;

use crate::render::encoded_segment;

/// A module, and every request that it may make.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ShownModule {
    /// Its file, in the manifest's folder.
    pub file: String,
    /// The digest of that file.
    pub sha256: Digest,
    /// The lines of the manifest: method and path, `{*}` for any one segment.
    pub requests: Vec<String>,
}

impl ShownModule {
    /// With the args of the call in its lines.
    pub(in crate::call) fn of(module: &Module, args: &Args) -> Self {
        let segment = |segment: &ModuleSegment| match segment {
            ModuleSegment::Literal(text) => text.clone(),
            ModuleSegment::Any => "{*}".to_owned(),
            ModuleSegment::Arg(name) => match args.get(name) {
                Some(Value::String(text)) => encoded_segment(text),
                Some(value) => value.to_string(),
                None => format!("{{{name}}}"),
            },
        };
        let line = |line: &ModuleRequest| {
            let path: Vec<String> = line.path.iter().map(segment).collect();
            format!("{} /{}", line.method.as_str(), path.join("/"))
        };
        Self {
            file: module.file.clone(),
            sha256: module.sha256,
            requests: module.requests.iter().map(line).collect(),
        }
    }
}
