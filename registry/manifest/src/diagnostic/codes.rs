//! Every kind of fault, in one table: the stable name, how bad it is, and a sentence on the rule. Refuses nothing itself.
//!
//! INVARIANT: [`Code::ALL`] holds each code once, and each has a passing and a failing vector in `tests/vectors`; those of a file
//! beside the manifest, which no vector has, have tests of `pinhole manifest check`.
//! DESIGN, "Manifest".

use crate::codes::codes;

impl Code {
    /// Whether it is about a file beside the manifest, which nobody sees who reads the manifest alone.
    pub fn is_beside(self) -> bool {
        matches!(self, Self::ModuleAbsent | Self::ModuleChanged | Self::ModuleUnfit)
    }
}

codes! {
    /// What kind of fault. Codes are stable; a new one may come.
    Code:
    JsonTooLarge "json_too_large" Error "A file has at most 2 MiB, and a key at most 128 bytes."
    JsonEncoding "json_encoding" Error "A file is UTF-8 without a byte order mark."
    JsonSyntax "json_syntax" Error "A file is one JSON value (RFC 8259), without comments or trailing commas."
    JsonTrailing "json_trailing" Error "Nothing but white space follows the one JSON value."
    JsonTooDeep "json_too_deep" Error "Arrays and objects are nested at most 64 deep."
    JsonSurrogate "json_surrogate" Error "A `\\ud800` to `\\udfff` escape comes as a high and low pair, or not at all."
    JsonDuplicateKey "json_duplicate_key" Error "A key stands once in an object."
    JsonNumber "json_number" Error "A number lies within ±(2^53 − 1), where every reader keeps it exactly."

    UnknownMember "unknown_member" Error "A member that format 1 does not know is refused."
    MissingMember "missing_member" Error "A member that format 1 asks for is there."
    WrongType "wrong_type" Error "A member has the JSON type that format 1 asks for."
    UnknownWord "unknown_word" Error "A member that takes one of a few words takes no other."
    OneOf "one_of" Error "Of members that exclude each other exactly one is there."
    OutOfRange "out_of_range" Error "A number or a count lies within its limits."

    Format "format" Error "`pinhole` is 1, the only format that there is."
    ServiceName "service_name" Error "A service id has 2 to 24 lower-case letters and digits, a letter first."
    OpName "op_name" Error "An op id has 1 to 40 lower-case letters, digits and underscores, a letter first."
    ToolName "tool_name" Error "Service and op together make a tool name of at most 48 characters."
    Version "version" Error "`version` is a semantic version."
    Text "text" Error "A text for people and models is one line without control, bidi or invisible characters."
    Invisible "invisible" Error "No key and no text holds an invisible character; tabs and line ends stand in a GraphQL document alone."
    Date "date" Error "`verified` is a day of the calendar, as `YYYY-MM-DD`."
    Url "url" Error "A URL is `https`, on a public host, without user, port or fragment."

    HostLength "host_length" Error "A host name has 1 to 253 characters."
    HostScheme "host_scheme" Error "A host has no scheme."
    HostPort "host_port" Error "A host has no port: every call goes to 443."
    HostPath "host_path" Error "A host has no path, query, fragment or user."
    HostWildcard "host_wildcard" Error "A host has no wildcard: a service is pinned to one name."
    HostPlaceholder "host_placeholder" Error "A host has no placeholder: it is the same for every call."
    HostAddress "host_address" Error "A host is a name, never an IP address in any notation."
    HostSingleLabel "host_single_label" Error "A host has at least two labels."
    HostTrailingDot "host_trailing_dot" Error "A host has no dot at its end."
    HostPrivate "host_private" Error "A host is public: local, internal and reserved suffixes are refused."
    HostLabel "host_label" Error "A host's labels have 1 to 63 lower-case letters, digits and inner hyphens; an `xn--` label is valid punycode."

    HeaderName "header_name" Error "A header's name has 1 to 64 lower-case letters, digits and hyphens."
    HeaderValue "header_value" Error "A header's value has 1 to 1,024 visible ASCII characters, with blanks inside only."
    HeaderReserved "header_reserved" Error "Headers that frame or route a request belong to the host runtime."
    HeaderCredential "header_credential" Error "Headers that carry a credential belong to the host runtime."
    HeaderOverride "header_override" Error "A header that makes a service take another method or path is refused."
    HeaderRepeated "header_repeated" Error "A header is set in one place: for the service or for the op."
    KeyOverride "key_override" Error "A key such as `_method`, which makes a service take another method, is refused."

    AuthHeader "auth_header" Error "`auth.header` goes with the scheme `header`, and names a header that nothing else uses."
    AuthPattern "auth_pattern" Error "`auth.pat.pattern` is a regular expression that runs in linear time, and small once compiled."
    AuthScope "auth_scope" Error "A scope has visible ASCII characters without blanks, quotes and backslashes (RFC 6749)."
    ViewerUnknown "viewer_unknown" Error "`auth.viewer` names an op of the manifest."
    ViewerNotRead "viewer_not_read" Error "`auth.viewer` names a read op."
    ViewerArgs "viewer_args" Error "`auth.viewer` names an op that needs no args."
    AccountPath "account_path" Error "`auth.account` goes with a viewer, and names a value that the viewer's pick lets through."

    AnswerPath "answer_path" Error "A path into an answer follows RFC 9535 and starts with `$`."
    AnswerPathPlural "answer_path_plural" Error "Outside a pick a path names at most one value: names and places only."
    PathIndex "path_index" Error "An index in a pick or in a path into an answer is at most 999."

    NoOps "no_ops" Error "A manifest has at least one op."
    TooManyOps "too_many_ops" Error "A manifest has at most 1,000 ops."
    NoConfirm "no_confirm" Error "A write asks a person first: it has a confirm line."
    NoEffect "no_effect" Error "A write says what it does: it has an effect."
    WriteOnly "write_only" Error "Only a write has confirm, effect, irreversible, idempotency and require."
    ConfirmArg "confirm_arg" Error "A confirm line names required args that are single values."
    NoPick "no_pick" Error "An op says which fields come back, or `\"none\"`."

    ArgsOpen "args_open" Error "Args are an object that takes no member but its own: `additionalProperties` is false."
    ArgsKeyword "args_keyword" Error "Args use a closed subset of JSON Schema."
    ArgsType "args_type" Error "A value of the args has exactly one type."
    ArgsValue "args_value" Error "A keyword of the args has a value that makes sense."
    ArgsPattern "args_pattern" Error "A pattern of the args is a regular expression that runs in linear time, and small once compiled."
    ArgsPatterns "args_patterns" Error "The args of a manifest have at most 200 patterns."
    ArgsFormat "args_format" Error "A format of the args is one that is checked."
    ArgsDefault "args_default" Error "A default is a value that the arg takes, and stands at an optional arg."
    ArgsRequired "args_required" Error "A required arg is declared."
    ArgsName "args_name" Error "An arg's name has 1 to 64 lower-case letters, digits and underscores, a letter first."
    ArgsDescription "args_description" Error "Each arg says what it is for, in one line."
    ArgsSize "args_size" Error "Args are few and shallow."
    ArgUnused "arg_unused" Error "A declared arg is used in the request."

    PlaceholderUnclosed "placeholder_unclosed" Error "A `{` is closed; a brace itself is written twice."
    PlaceholderUnopened "placeholder_unopened" Error "A `}` has its `{`; a brace itself is written twice."
    PlaceholderName "placeholder_name" Error "A placeholder holds the name of an arg."
    PlaceholderUndeclared "placeholder_undeclared" Error "A placeholder names a declared arg."
    PlaceholderOptional "placeholder_optional" Error "In a path, and inside longer text, a placeholder names an arg that is always there."
    PlaceholderNotScalar "placeholder_not_scalar" Error "Where text is made, a placeholder names an arg that is a single value."

    ReadMethod "read_method" Error "A read uses GET or HEAD, a GraphQL query, or a POST beside `\"reads\": true`."
    WriteMethod "write_method" Error "A write uses POST, PUT, PATCH or DELETE."
    ReadsMisplaced "reads_misplaced" Error "`\"reads\": true` stands beside the POST of a read that has no GraphQL query, and nowhere else."
    BodyMisplaced "body_misplaced" Error "GET and HEAD have no body."

    PathRelative "path_relative" Error "A path starts with a slash."
    PathUrl "path_url" Error "A path is not a full URL: the host stands once, in `host`."
    PathAuthority "path_authority" Error "A path does not start with two slashes, which would name another host."
    PathDotSegment "path_dot_segment" Error "A path has no `.` and `..` segment, encoded or not."
    PathEmptySegment "path_empty_segment" Error "A path has no empty segment but a last one."
    PathQuery "path_query" Error "A path has no `?` and `#`: the query stands in `query`."
    PathEscape "path_escape" Error "A `%` in a path is followed by two hexadecimal digits, and hides no slash or control character."
    PathCharacter "path_character" Error "A path has the characters that RFC 3986 lets stand in a segment."
    PathWildcard "path_wildcard" Error "A `{*}`, or an arg in a module's path, is a whole segment, and stands only in a path shape."
    QueryKey "query_key" Error "A key of a query or form is visible text of 1 to 128 characters."
    JoinMisplaced "join_misplaced" Error "`join` goes with a value that is one array arg."

    GraphqlSyntax "graphql_syntax" Error "A GraphQL document parses, and declares exactly the variables that it uses."
    GraphqlOperation "graphql_operation" Error "A GraphQL document has exactly one operation, a query or a mutation."
    GraphqlSize "graphql_size" Error "A GraphQL document is small."
    GraphqlKind "graphql_kind" Error "A read's GraphQL operation is a query, a write's a mutation."
    GraphqlMethod "graphql_method" Error "A GraphQL document is posted."
    GraphqlPlain "graphql_plain" Error "What is sent to a path that ends in `graphql` is a `graphql` body, whose document stands in the file."
    GraphqlUndeclared "graphql_undeclared" Error "A variable that is fed is declared in the document."
    GraphqlUnfed "graphql_unfed" Error "A variable that is declared is fed, and a required one always."

    PageMisplaced "page_misplaced" Error "Only a read with one request has pages."
    PageVariable "page_variable" Error "`page.variable` is an optional variable of the op's GraphQL document."
    PageTaken "page_taken" Error "What carries the page on has no fixed value in the request."

    ModuleWrite "module_write" Error "In format 1 a module only reads."
    ModuleFile "module_file" Error "A module's file is `modules/<name>.wasm`."
    ModuleDigest "module_digest" Error "A module's digest is 64 lower-case hexadecimal digits."
    ModuleAbsent "module_absent" Error "A module's file is there, beside the manifest, and has at most 32 MiB."
    ModuleChanged "module_changed" Error "A module's file is the one whose digest the manifest names."
    ModuleUnfit "module_unfit" Error "A module is a component of the world `pinhole:op/module` that imports nothing but what a module is given."

    PickSyntax "pick_syntax" Error "A pick's paths follow RFC 9535; fields stand without the `$`."
    PickDescendant "pick_descendant" Error "A pick has no descendant segment: nobody could say what it lets through."
    PickSelector "pick_selector" Error "A pick has names, places and `[*]` only."
    PickAlias "pick_alias" Error "`as` is a plain name, and a field with a place in an array has one."
    PickCollision "pick_collision" Error "Two fields of a pick do not end in the same place."
    PickRepeated "pick_repeated" Error "Two fields of a pick do not have the same path."
    PickSize "pick_size" Error "A pick has 1 to 200 fields of at most 16 steps."

    RequireUnknown "require_unknown" Error "`require` names an op of the manifest."
    RequireNotRead "require_not_read" Error "`require` names a read op with one request."
    RequireArgs "require_args" Error "`require` feeds the args that its op declares, and every required one."
}
