//! What a fault of a module comes to: a code, our own words, and what the module said, scrubbed, clipped and marked.

use crate::outcome::{Code, Refusal, UntrustedText};
use crate::sandbox::Fault;
use crate::scrub::Scrub;

pub(super) fn refusal(fault: Fault, scrub: &Scrub) -> Refusal {
    let saying = |code: Code, more: &dyn std::fmt::Display| {
        let refusal = Refusal::new(code);
        let message = format!("{}: {more}", refusal.message);
        refusal.saying(message)
    };
    let said = |text: String| Some(UntrustedText::new(&scrub.text(&text)));
    match fault {
        // Where the file is, is the operator's to know.
        Fault::Unreadable(why) => Refusal::new(Code::ModuleUnreadable).detail(&why),
        Fault::OtherDigest => Refusal::new(Code::ModuleChanged),
        Fault::Misfit(misfit) => saying(Code::ModuleInvalid, &misfit),
        Fault::Broken(why) => Refusal::new(Code::SandboxFailed).detail(&why),
        Fault::OutOfFuel => Refusal::new(Code::ModuleOutOfFuel),
        Fault::OutOfTime => Refusal::new(Code::ModuleOutOfTime),
        Fault::OutOfMemory => Refusal::new(Code::ModuleOutOfMemory),
        Fault::StackOverflow => Refusal::new(Code::ModuleStackOverflow),
        Fault::NotText => Refusal::new(Code::ModuleOutput),
        Fault::Limit(limit) => saying(Code::ModuleLimit, &limit),
        Fault::Trapped(text) => {
            Refusal { untrusted: text.and_then(said), ..Refusal::new(Code::ModuleTrapped) }
        }
        Fault::Failed(message) => Refusal { untrusted: said(message), ..Refusal::new(Code::ModuleFailed) },
    }
}
