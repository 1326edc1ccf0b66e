//! Which args a request names, and whether each fits its place. DESIGN, "Manifest": placeholders.
//!
//! Refuses undeclared and unused args, and an arg that could be absent, an array or an object where a text is made.
//! INVARIANT: no optional arg stands where rendering has to have a value.

use std::collections::BTreeSet;

use super::reader::{At, Faults};
use crate::diagnostic::Code;
use crate::ids::ArgName;
use crate::model::{ArgDef, ArgKind, ArgsSchema};

/// Where a placeholder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a segment of a path.
    Path,
    /// A query value that is the placeholder alone: an array repeats the key.
    Query,
    /// A query value whose array is joined.
    Joined,
    /// A header value that is the placeholder alone.
    Header,
    /// A JSON or form value that is the placeholder alone.
    Value,
    /// Inside longer text.
    Inline,
    /// In a confirm line.
    Confirm,
}

impl Place {
    /// The place of a placeholder that is alone, or not.
    pub(super) fn of(self, sole: bool) -> Self {
        match self {
            Self::Query | Self::Header | Self::Value if !sole => Self::Inline,
            place => place,
        }
    }
}

#[derive(Debug)]
struct Use {
    arg: ArgName,
    at: At,
    place: Place,
}

/// The placeholders of an op.
#[derive(Debug, Default)]
pub(super) struct Uses {
    uses: Vec<Use>,
    incomplete: bool,
}

impl Uses {
    pub(super) fn note(&mut self, arg: ArgName, at: At, place: Place) {
        self.uses.push(Use { arg, at, place });
    }

    /// Says that a part could not be read, and with it perhaps a use.
    pub(super) fn incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Judges every use against what is declared.
    pub(super) fn check(&self, args: &ArgsSchema, faults: &Faults) {
        for used in &self.uses {
            match args.defs().get(&used.arg) {
                Some(def) => used.check(def, faults),
                None => faults.add(
                    Code::PlaceholderUndeclared,
                    &used.at,
                    format!("`{{{}}}` is not an arg of this op", used.arg),
                    format!("declare `{}` in `args`, or write `{{{{` for the brace itself", used.arg),
                ),
            }
        }
    }

    /// Reports args that nothing names. Says nothing where a part could not be read.
    pub(super) fn check_all_used(&self, args: &ArgsSchema, at: &At, faults: &Faults) {
        if self.incomplete {
            return;
        }
        let used: BTreeSet<_> = self.uses.iter().map(|one| &one.arg).collect();
        for name in args.defs().keys().filter(|name| !used.contains(name)) {
            let message = format!("the arg `{name}` is not used in the request");
            let at = at.name("properties").name(name.as_str());
            faults.add_at_key(
                Code::ArgUnused,
                &at,
                message,
                format!("write `{{{name}}}` where it belongs, or leave it out"),
            );
        }
    }
}

impl Use {
    fn check(&self, def: &ArgDef, faults: &Faults) {
        let arg = &self.arg;
        let fault = |code, message: String, help: &str| faults.add(code, &self.at, message, help);
        let optional = match self.place {
            Place::Path | Place::Inline => !def.always_present(),
            Place::Confirm => !def.required,
            Place::Query | Place::Joined | Place::Header | Place::Value => false,
        };
        let misfit = match self.place {
            Place::Path | Place::Inline | Place::Confirm | Place::Header => !def.kind.is_scalar(),
            Place::Query => def.kind == ArgKind::Object,
            Place::Joined => def.kind != ArgKind::Array,
            Place::Value => false,
        };
        match self.place {
            Place::Confirm if optional || misfit => fault(
                Code::ConfirmArg,
                format!("`{{{arg}}}` is not a required single value"),
                "name args that every call has",
            ),
            Place::Joined if misfit => {
                fault(Code::JoinMisplaced, format!("`{{{arg}}}` is not an array"), "leave `join` out");
            }
            _ if misfit => fault(
                Code::PlaceholderNotScalar,
                format!("`{{{arg}}}` is not a single value, and a text is made of it here"),
                "name an arg that is a text, a number or a truth value",
            ),
            _ if optional => fault(
                Code::PlaceholderOptional,
                format!("`{{{arg}}}` may be absent, and a value is needed here"),
                "make the arg required, or let the placeholder be the whole value",
            ),
            _ => {}
        }
    }
}
