//! What can change in a manifest, in order of how much of it can be lost by it.
//!
//! INVARIANT: the order of [`Kind::ALL`] is the order in which changes are shown, and no two kinds have one name.

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// What changed. The names are stable; the order is that of what a change can cost: first where keys go, then what
        /// an op does, what is sent, what comes back, how much of it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All of them, the gravest first.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// The stable name, such as `pick_field`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// The service's id: it is another service.
    ServiceId = "service_id",
    /// The one API host.
    Host = "host",
    /// One of the OAuth URLs.
    OauthUrl = "oauth_url",
    /// Where the key stands in a request.
    AuthScheme = "auth_scheme",
    /// OAuth is offered, or no longer.
    Oauth = "oauth",
    /// How the client shows itself to the token endpoint: `client_auth`, `pkce`.
    OauthClient = "oauth_client",
    /// A scope that is asked for.
    OauthScope = "oauth_scope",
    /// Personal access tokens are offered, or no longer.
    Pat = "pat",
    /// What a personal access token must look like.
    PatPattern = "pat_pattern",
    /// The op that proves a key.
    Viewer = "viewer",
    /// Where the account is named.
    Account = "account",
    /// A header of every request.
    ServiceHeader = "service_header",
    /// A service that was not there.
    ServiceAdded = "service_added",
    /// A service that is no longer there.
    ServiceRemoved = "service_removed",
    /// An op that was not there.
    OpAdded = "op_added",
    /// Whether an op looks or changes.
    Access = "access",
    /// What a write does.
    Effect = "effect",
    /// Whether a write can be taken back.
    Irreversible = "irreversible",
    /// What a person is asked.
    Confirm = "confirm",
    /// A text that a person or a model reads.
    Text = "text",
    /// A link that a person follows.
    Link = "link",
    /// The day on which somebody tried it on the live service.
    Verified = "verified",
    /// A request in the place of a module, or the other way round.
    Action = "action",
    /// The method of a request.
    Method = "method",
    /// The path of a request.
    Path = "path",
    /// A parameter of a query.
    Query = "query",
    /// A header of an op's request.
    Header = "header",
    /// The body of a request, or a part of it.
    Body = "body",
    /// A GraphQL document.
    Graphql = "graphql",
    /// The header by which a service knows a repeated write.
    Idempotency = "idempotency",
    /// An arg, or a member of one, that was not there.
    ArgAdded = "arg_added",
    /// An arg, or a member of one, that is no longer there.
    ArgRemoved = "arg_removed",
    /// Whether an arg may be left out.
    ArgRequired = "arg_required",
    /// The type of an arg.
    ArgType = "arg_type",
    /// A bound, a length, a step, a rule of uniqueness.
    ArgBound = "arg_bound",
    /// The pattern of an arg.
    ArgPattern = "arg_pattern",
    /// The format of an arg.
    ArgFormat = "arg_format",
    /// The values that an arg may have.
    ArgChoice = "arg_choice",
    /// What stands in for an arg that is left out.
    ArgDefault = "arg_default",
    /// How further pages are found.
    Page = "page",
    /// A path on which further pages may be found.
    PagePath = "page_path",
    /// The component that computes an op.
    Module = "module",
    /// A request that a module may make.
    ModuleLine = "module_line",
    /// The name of a module's file.
    ModuleFile = "module_file",
    /// What must hold before a write is sent.
    Require = "require",
    /// When an answer is a failure.
    Failure = "failure",
    /// Where the service's own words about a failure are taken from.
    ErrorText = "error_text",
    /// Where the fields of a pick start.
    PickRoot = "pick_root",
    /// A field that comes back.
    PickField = "pick_field",
    /// The name under which a field comes back.
    PickName = "pick_name",
    /// A size or a time.
    Limit = "limit",
    /// An op that is no longer there.
    OpRemoved = "op_removed",
    /// The manifest's version.
    Version = "version",
    /// The file's bytes, and nothing that they mean.
    Bytes = "bytes",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Kind;

    #[test]
    fn names_are_names_and_each_is_one_kind_s() {
        let names: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), Kind::ALL.len());
        for name in names {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        }
        assert!(Kind::ALL.is_sorted());
    }
}
