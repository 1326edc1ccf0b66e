//! Every reason for a refusal: a stable name, a sentence, a hint and an exit class. The docs list the same
//! (`docs/refusals.md`), and a test holds the two together.

use std::fmt;

use serde::{Serialize, Serializer};

/// What kind of ending a refusal is, for exit statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitClass {
    /// It ran, and the service said no.
    Failed,
    /// Refused; only that nothing was sent makes it so, else it counts as `SentThenRefused`.
    Refused,
    /// The manifest, the module or the grant is not valid.
    Invalid,
    /// The local store, disk or clock.
    Local,
}

macro_rules! codes {
    ($($variant:ident $name:literal $class:ident $sentence:literal $hint:literal;)*) => {
        /// Why a run gave no result. Exhaustive on purpose: who decides by it must decide anew when one is added.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $sentence] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name, such as `read_only_grant`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What is wrong.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }

            /// What to do about it.
            pub fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            /// What kind of ending it is.
            pub fn exit_class(self) -> ExitClass {
                match self { $(Self::$variant => ExitClass::$class,)* }
            }
        }
    };
}

codes! {
    GrantMalformed "grant_malformed" Invalid
        "this is not a sealed grant"
        "pass the file that `pinhole grant mint` wrote, unchanged";
    WrongBot "wrong_bot" Invalid
        "the grant is sealed to another bot"
        "ask the member for a grant to this bot's key (`pinhole keys show`); if that was changed, start the process that \
         refuses anew";
    GrantUnopenable "grant_unopenable" Invalid
        "the grant does not open with this bot's key: it was changed on the way, or sealed to another key"
        "ask the member for a new grant";
    UnknownIssuer "unknown_issuer" Invalid
        "the grant is signed by a member whom this host does not know"
        "have the host's operator name the member (`--issuer KEY`), if she is to be trusted";
    BadSignature "bad_signature" Invalid
        "the grant's signature does not verify"
        "ask the member for a new grant";
    GrantInconsistent "grant_inconsistent" Invalid
        "the grant contradicts itself"
        "ask the member for a new grant";
    GrantNotYetValid "grant_not_yet_valid" Refused
        "the grant is not valid yet"
        "wait until it is, or set the clock right";
    GrantExpired "grant_expired" Refused
        "the grant has expired"
        "ask the member for a new grant; a connection's own is renewed by `pinhole connections renew`";
    GrantUsedUp "grant_used_up" Refused
        "every use of this grant is spent"
        "ask the member for a new grant";
    GrantRevoked "grant_revoked" Refused
        "the grant was revoked"
        "ask the member for a new grant";
    NotConnected "not_connected" Refused
        "there is no connection to this service"
        "`pinhole connect SERVICE` makes one; or pass a grant with `--grant FILE`";
    UnknownConnection "unknown_connection" Refused
        "it cannot be told which connection is meant"
        "name one with `--connection LABEL`; `pinhole connections` lists them";
    NoStoredGrant "no_stored_grant" Refused
        "this host's bot has no grant of the connection"
        "have the member renew it with `pinhole connections renew`";
    ReadOnlyConnection "read_only_connection" Refused
        "the op writes, and the connection only reads"
        "the member can let it ask for writes with `pinhole connections cap SERVICE write`";
    UnknownService "unknown_service" Refused
        "this host has no manifest of that service"
        "`pinhole services` lists what there is";
    RegistryStale "registry_stale" Refused
        "what the service's registry signed last has expired, so that it may be an old manifest"
        "`pinhole registry sync` gets what it signs now; if that says the same, tell its maintainers";
    ManifestInvalid "manifest_invalid" Invalid
        "this host's manifest of the service does not load with this version of Pinhole"
        "`pinhole registry sync` gets the present one; or update Pinhole";
    UnknownOp "unknown_op" Refused
        "the service has no such op"
        "`pinhole services SERVICE` lists its ops";
    WrongService "wrong_service" Refused
        "the grant is for another service"
        "pass the grant of the service that the op belongs to";
    HostChanged "host_changed" Refused
        "the manifest's host is not the one that the credential was given for"
        "look at why its host changed, then reconnect, or ask the member for a grant with a fresh key";
    ManifestChanged "manifest_changed" Refused
        "the manifest is not the one that the grant was made for"
        "ask the member for a grant made with the present manifest; `pinhole connections renew` makes a connection's own";
    SourceChanged "source_changed" Refused
        "the manifest comes from another source than the one that the credential was given under"
        "reconnect, or ask the member for a grant made under the present source, if that is right";
    DialMismatch "dial_mismatch" Refused
        "the credential is for the real host and this call would dial elsewhere, or the other way round"
        "a real key goes without `--resolve`; one that was connected or minted for a stand-in goes with it";
    OpOutOfScope "op_out_of_scope" Refused
        "the grant does not cover this op"
        "ask the member for a grant that names it";
    ArgsOutOfScope "args_out_of_scope" Refused
        "the grant does not cover these args"
        "use the values that the grant lists (`pinhole grant inspect`), or ask the member for another";
    ReadOnlyGrant "read_only_grant" Refused
        "the op writes, and the grant only reads"
        "ask the member for an approval of exactly this write";
    ApprovalRequired "approval_required" Refused
        "this write needs the member's approval of exactly this call"
        "ask the member: `pinhole approvals list`, or `pinhole grant mint SERVICE --approve SERVICE.OP ARGS`";
    ApprovalDenied "approval_denied" Refused
        "the member said no to this write"
        "ask her why before you ask again; the same call is a new question only when this one's time is over";
    ApprovalTaken "approval_taken" Refused
        "another call has just taken the approval of this write"
        "look whether it was carried out before you ask again";
    Busy "busy" Refused
        "the host has as much to do as it takes at once"
        "wait for as long as `retry_after` says, then ask the same again";
    TooManyQuestions "too_many_questions" Refused
        "as many questions of this bot as may be are waiting for the member"
        "have her answer some: `pinhole approvals list`";
    ApprovalMismatch "approval_mismatch" Refused
        "the approval is for another call"
        "run exactly what was approved, or ask the member to approve this";
    KeyNotTaken "key_not_taken" Refused
        "a read takes no key"
        "leave the key out: a read may be repeated as it is";
    KeyConflict "key_conflict" Refused
        "the key was used for another write"
        "a key names one write for a day: give another write another key";
    UnderWay "under_way" Refused
        "another call with this key is carrying the write out"
        "ask again later with the same key, and get its outcome";
    OutcomeUnknown "outcome_unknown" Refused
        "an earlier call with this key may have carried the write out, and nobody knows"
        "have the member look at the service; if it was not done, ask for it anew, under another key";
    PageTokenMalformed "page_token_malformed" Refused
        "this is not a page token of this bot's"
        "pass the outcome's `next` unchanged, on the host that it came from, or begin again without it";
    PageTokenExpired "page_token_expired" Refused
        "the page token is more than an hour old"
        "begin again without it";
    PageTokenMismatch "page_token_mismatch" Refused
        "the page token is for another call"
        "repeat the op and the args that it came from, under a grant of the same member and connection, or begin again";
    ModuleUnreadable "module_unreadable" Invalid
        "the op's module cannot be read"
        "keep the module where the manifest says, in the manifest's folder: `modules/<name>.wasm`";
    ModuleChanged "module_changed" Invalid
        "the op's module is not the one that the manifest names"
        "put back the file whose SHA-256 stands in the manifest, or review the new one and its manifest";
    ModuleInvalid "module_invalid" Invalid
        "the op's module is not a component that this host runs"
        "build a component of the world `pinhole:op/module@1.0.0` that imports nothing else";
    SandboxFailed "sandbox_failed" Local
        "this host cannot run modules"
        "look at the log, and at how much memory the machine lets a process reserve";
    InvalidArgs "invalid_args" Refused
        "the args are not what the op takes"
        "`pinhole services SERVICE.OP` shows the args";
    ArgRefused "arg_refused" Refused
        "an arg cannot stand where the request needs it"
        "give a plain value: no empty text, no `.` or `..`, no control characters";
    Unsendable "unsendable" Refused
        "the request is not one that the client sends"
        "look at the args; if they are plain, the manifest needs a look";
    ModuleRequestRefused "module_request_refused" Refused
        "the op's module asked for something that the manifest does not declare"
        "the module or its lines in the manifest need a look; under a grant that narrows args no line may leave them open";
    ModuleLimit "module_limit" Refused
        "the op's module takes more than it may"
        "ask for less; if it stays, the module needs a look";
    ModuleOutOfMemory "module_out_of_memory" Refused
        "the op's module takes more memory than it may"
        "ask for less; if it stays, the module needs a look";
    ModuleOutOfFuel "module_out_of_fuel" Refused
        "the op's module computes longer than it may"
        "ask for less; if it stays, the module needs a look";
    ModuleOutOfTime "module_out_of_time" Refused
        "the op's module was not done within the op's time"
        "ask for less, or try again later";
    ModuleStackOverflow "module_stack_overflow" Refused
        "the op's module calls itself too deeply"
        "the module needs a look";
    ModuleTrapped "module_trapped" Refused
        "the op's module broke off"
        "look at the args; if they are good, the module needs a look";
    ModuleOutput "module_output" Refused
        "what the op's module gave is not JSON"
        "the module needs a look";
    ModuleFailed "module_failed" Failed
        "the op's module gave an error"
        "look at what the module said, and at the args";
    RequirementFailed "requirement_failed" Refused
        "what the op requires does not hold"
        "the write was not sent; make the requirement hold first";
    ReconnectRequired "reconnect_required" Refused
        "the connection's tokens are good for nothing any more"
        "connect again: `pinhole connect SERVICE --oauth`; or ask the member for a grant of a connection that she made anew";
    NoWayBack "no_way_back" Refused
        "the token has to be renewed, and the grant does not say where the fresh one goes"
        "ask the member for a grant with a way back: `pinhole grant mint SERVICE --return-to KEY`";
    RenewalFailed "renewal_failed" Refused
        "the token could not be renewed"
        "call again when `retry_after` seconds are over; if it stays so, look at the network and at the log";
    StoreFailed "store_failed" Local
        "the local store could not be used, so nothing was sent"
        "look at the disk and at the rights of the data folder";
    ReceiptFailed "receipt_failed" Local
        "no receipt of the run could be written, so its result is withheld"
        "look at the disk and at the rights of the data folder; `sent` says whether the request left";
    AddressRefused "address_refused" Refused
        "the host's name resolves to an address that is not public"
        "look at the machine's DNS: a public API has public addresses only";
    NameNotFound "name_not_found" Refused
        "the host's name does not resolve"
        "look at the network and the machine's DNS";
    ConnectFailed "connect_failed" Refused
        "no connection to the host"
        "look at the network, then try again";
    TlsFailed "tls_failed" Refused
        "the host did not prove that it is the host"
        "somebody may be in between, or the machine's clock may be wrong; for a stand-in name its CA with `--ca-cert`";
    TimedOut "timed_out" Refused
        "the service took too long"
        "try again later; `sent` says whether the request may have been carried out";
    Redirected "redirected" Refused
        "the service answered with a redirect, which is never followed"
        "look at the args: the thing may have moved or been renamed";
    ResponseTooLarge "response_too_large" Refused
        "the answer is larger than the op allows"
        "ask for less, such as a smaller page";
    HeadersTooLarge "headers_too_large" Refused
        "the answer's headers are larger than any service needs"
        "this is not how the service answers: look at who does";
    BadEncoding "bad_encoding" Refused
        "the answer's content encoding is broken or was not asked for"
        "try again; if it stays, the service or something in between is at fault";
    Interrupted "interrupted" Refused
        "the connection ended before the answer did"
        "`sent` says whether the request may have been carried out; look before you repeat a write";
    BadResponse "bad_response" Refused
        "what came back is not HTTP"
        "try again; if it stays, the service or something in between is at fault";
    NotJson "not_json" Refused
        "the answer is not JSON"
        "look before you repeat a write; if it stays, the service or something in between is at fault";
    UpstreamInvalid "upstream_invalid" Failed
        "the service refused the request as invalid"
        "look at what the service said, and at the args";
    UpstreamUnauthorized "upstream_unauthorized" Failed
        "the service does not accept the credential"
        "connect again with a fresh key, or ask the member for a grant with one";
    UpstreamForbidden "upstream_forbidden" Failed
        "the credential may not do this at the service"
        "give the key the right at the service, if it should have it";
    UpstreamNotFound "upstream_not_found" Failed
        "the service has no such thing, or does not show it to this credential"
        "look at the args, and at what the key may see";
    UpstreamConflict "upstream_conflict" Failed
        "the service says that the thing changed or is there already"
        "read it again, then decide";
    UpstreamRateLimited "upstream_rate_limited" Failed
        "the service takes no more requests for now"
        "try again later";
    UpstreamError "upstream_error" Failed
        "the service failed"
        "try again later; look before you repeat a write";
    UpstreamFailure "upstream_failure" Failed
        "the service answered that it failed"
        "look at what the service said, and at the args";
    RootAbsent "root_absent" Refused
        "the answer lacks the part that the op picks from"
        "the service may have changed its answers: the manifest needs a look";
    DuplicateKey "duplicate_key" Refused
        "the answer says the same field twice, so that nobody can tell which one is meant"
        "try again; if it stays, the service or something in between is at fault";
    ResultTooLarge "result_too_large" Refused
        "the result is larger than the op may return; nothing is ever cut off"
        "ask for less, such as a smaller page or a filter";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
