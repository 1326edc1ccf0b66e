//! What to do about a refusal, in words for a model and the person it works for.
//!
//! The codes' own hints speak to whoever runs the command line. Where they name a flag or a file that a model has not, this
//! says what it or the person can do instead. Decides nothing.

use pinhole_manifest::ServiceId;
use pinhole_manifest::model::Op;
use pinhole_runtime::outcome::{Code, Refusal};

/// Most characters of a list of args.
const ARGS_MAX: usize = 200;

/// The hint.
pub(super) fn of(service: &ServiceId, refusal: &Refusal, op: Option<&Op>) -> String {
    let said = refusal.hint.as_str();
    match (refusal.code, refusal.question) {
        (Code::ApprovalRequired, Some(question)) => format!(
            "tell the person what would be done and that `pinhole approvals approve {question}` shows it whole and takes their \
             yes; once they have said it, make the same call again with exactly the same arguments"
        ),
        (Code::ApprovalDenied, _) => {
            "do not make this call again unless the person asks for it: they said no to exactly this".to_owned()
        }
        (Code::ApprovalTaken, _) => {
            "another call of yours was faster: look whether the write was carried out before you make it again".to_owned()
        }
        // One that says more than the code's own is about the case at hand.
        _ if said != refusal.code.hint() => said.to_owned(),
        (code, _) => of_code(code, service, op),
    }
}

/// The hint of a code.
fn of_code(code: Code, service: &ServiceId, op: Option<&Op>) -> String {
    own(code, service, op).unwrap_or_else(|| code.hint().to_owned())
}

fn own(code: Code, service: &ServiceId, op: Option<&Op>) -> Option<String> {
    Some(match code {
        Code::NotConnected => {
            format!("tell the person that `pinhole connect {service}` connects it; then call again")
        }
        Code::UnknownConnection => {
            "list the tools again and give `connection` one of the labels that they name".to_owned()
        }
        Code::NoStoredGrant
        | Code::GrantExpired
        | Code::GrantUsedUp
        | Code::GrantRevoked
        | Code::ManifestChanged
        | Code::NoWayBack => {
            "tell the person that `pinhole connections renew` renews what this host may do; then call again".to_owned()
        }
        Code::ReadOnlyConnection | Code::ReadOnlyGrant => {
            format!("tell the person that `pinhole connections cap {service} write` lets this connection ask for writes")
        }
        Code::UnknownService | Code::UnknownOp => "list the tools again and call one of those".to_owned(),
        Code::HostChanged
        | Code::SourceChanged
        | Code::DialMismatch
        | Code::ReconnectRequired
        | Code::UpstreamUnauthorized => {
            format!("tell the person that the connection no longer fits: `pinhole connect {service}` makes a new one")
        }
        Code::GrantMalformed
        | Code::WrongBot
        | Code::GrantUnopenable
        | Code::UnknownIssuer
        | Code::BadSignature
        | Code::GrantInconsistent
        | Code::WrongService
        | Code::OpOutOfScope
        | Code::ArgsOutOfScope
        | Code::ApprovalMismatch
        | Code::TlsFailed => {
            "tell the person that something is wrong on this host: `pinhole doctor` says what".to_owned()
        }
        Code::Busy => "wait a moment, then ask the same again".into(),
        Code::TooManyQuestions => {
            "tell the person to answer some of the questions that wait: `pinhole approvals list`".to_owned()
        }
        Code::ApprovalRequired => {
            "tell the person that `pinhole approvals list` shows what waits for their yes; then make the same call again"
                .to_owned()
        }
        Code::InvalidArgs => "give the arguments as the tool's schema says".to_owned(),
        Code::PageTokenMalformed | Code::PageTokenMismatch | Code::PageTokenExpired => {
            "give `next` exactly as the last result of the same arguments had it, or begin again without it".to_owned()
        }
        Code::ResultTooLarge | Code::ResponseTooLarge => narrower(op?)?,
        _ => return None,
    })
}

/// What an op takes that may make its result smaller.
fn narrower(op: &Op) -> Option<String> {
    let optional: Vec<String> =
        op.args.defs().iter().filter(|(_, def)| !def.required).map(|(name, _)| format!("`{name}`")).collect();
    if optional.is_empty() {
        return None;
    }
    let listed = crate::mcp::tools::list_of(&optional, ARGS_MAX);
    Some(format!("nothing is ever cut off: ask for less with {listed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hint_names_what_a_model_has_not() {
        let service = ServiceId::parse("github").unwrap();
        for code in Code::ALL {
            let hint = of_code(*code, &service, None);
            for word in [" --", "`--", "grant mint", "SERVICE", "manifest where", "pass the file"] {
                assert!(!hint.contains(word), "{code}: {hint}");
            }
        }
        assert!(of_code(Code::NotConnected, &service, None).contains("`pinhole connect github`"));
    }

    #[test]
    fn what_is_too_large_says_what_to_narrow() {
        let catalog = pinhole_runtime::catalog::Catalog::built_in().unwrap();
        let service = ServiceId::parse("github").unwrap();
        let manifest = &catalog.find(&service).unwrap().manifest;
        let op = |name: &str| manifest.op(&pinhole_manifest::OpId::parse(name).unwrap()).unwrap();
        let hint = of_code(Code::ResultTooLarge, &service, Some(op("list_issues")));
        assert!(
            hint.contains("`per_page`") && hint.contains("`labels`") && !hint.contains("`owner`"),
            "{hint}"
        );
        // Where there is nothing to narrow, the code's own words.
        let hint = of_code(Code::ResultTooLarge, &service, Some(op("get_repo")));
        assert_eq!(hint, Code::ResultTooLarge.hint());
    }
}
