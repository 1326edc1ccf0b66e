//! The four hints of a tool, always all of them: a missing one is taken for the worst case.

use pinhole_manifest::Access;
use pinhole_manifest::model::{Effect, Method, Op};
use rmcp::model::ToolAnnotations;

/// The hints of an op.
///
/// A create adds, so it is not destructive; an update overwrites what was there, and everything else cannot be put back, so
/// both are. Idempotent are an update by PUT and a removal by DELETE, which HTTP defines so (RFC 9110, section 9.2.2). A
/// manifest's `idempotency` header does not make an op so: its key is another for every approval, so that a repeated call
/// is a second write and only a retry of the same one is recognised.
pub(super) fn of(op: &Op, title: &str) -> ToolAnnotations {
    if op.access == Access::Read {
        return annotations(title, [true, false, true, true]);
    }
    let method = op.request().map(|request| request.method);
    let idempotent = matches!(
        (op.effect, method),
        (Some(Effect::Update), Some(Method::Put)) | (Some(Effect::Delete), Some(Method::Delete))
    );
    let destructive = op.irreversible || op.effect != Some(Effect::Create);
    annotations(title, [false, destructive, idempotent, true])
}

/// Of a tool that looks at this host alone.
pub(super) fn local(title: &str) -> ToolAnnotations {
    annotations(title, [true, false, true, false])
}

/// Of a tool that runs any read.
pub(super) fn any_read(title: &str) -> ToolAnnotations {
    annotations(title, [true, false, true, true])
}

/// Of a tool that runs any write: the worst of them.
pub(super) fn any_write(title: &str) -> ToolAnnotations {
    annotations(title, [false, true, false, true])
}

fn annotations(title: &str, [read_only, destructive, idempotent, open_world]: [bool; 4]) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(read_only)
        .destructive(destructive)
        .idempotent(idempotent)
        .open_world(open_world)
}
