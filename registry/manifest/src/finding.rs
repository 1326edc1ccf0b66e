//! What holding a manifest against the provider's own description brings to light: a code, an op, a place, a sentence and
//! what to do.
//!
//! Says nothing of the manifest's own rules, which [`crate::diagnostic`] has: a manifest that is verified has been read.
//! Texts of a description are in a message in visible form. INVARIANT: a finding's severity is its code's. Issue 6, point 7.

use std::fmt;

use crate::codes::codes;
use crate::diagnostic::Severity;
use crate::ids::OpId;
use crate::visible::visible;

/// Longest part of a message that comes from a description, in characters.
pub(crate) const QUOTE_MAX: usize = 120;

/// One thing in which a manifest and a description differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What kind of difference.
    pub code: FindingCode,
    /// The op, if it is about one.
    pub op: Option<OpId>,
    /// Where, as a JSON Pointer (RFC 6901) into the manifest.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Finding {
    /// A finding as bad as its code is.
    pub(crate) fn new(
        code: FindingCode,
        op: Option<&OpId>,
        pointer: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            severity: code.severity(),
            code,
            op: op.cloned(),
            pointer: pointer.into(),
            message: message.into(),
            help: help.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {} ({})", self.pointer, self.code.as_str(), self.message, self.help)
    }
}

/// A text of a description as a message quotes it: visible, and clipped.
pub(crate) fn quoted(text: &str) -> String {
    let mut shown = visible(&text.chars().take(QUOTE_MAX).collect::<String>());
    if text.chars().nth(QUOTE_MAX).is_some() {
        shown.push('…');
    }
    shown
}

codes! {
    /// What kind of difference. Codes are stable; a new one may come.
    FindingCode:
    ArgType "arg_type" Error "An arg takes values of the type that the description has."
    ArgValues "arg_values" Error "An arg's listed values are ones that the description lists."
    ArgOptional "arg_optional" Error "What the description requires is always there."
    MemberUnknown "member_unknown" Error "A member of what is sent is one that the description has."
    MemberMissing "member_missing" Error "Every member that the description requires is sent."
    PickUnknown "pick_unknown" Error "A picked field is one that the description has."
    PickNotValue "pick_not_value" Error "A picked field is a value, or a list of values, and its path goes through lists with `[*]`."
    PageUnknown "page_unknown" Error "What a page is found by is in the answer that the description has."
    HostUnknown "host_unknown" Error "The host is one of the description's servers."
    OperationUnknown "operation_unknown" Error "Method and path are ones that the description has."
    ParameterUnknown "parameter_unknown" Error "A query parameter is one that the description has, in its place."
    ParameterMissing "parameter_missing" Error "Every parameter that the description requires is sent."
    ValueUnfit "value_unfit" Error "A fixed value is one that the service takes."
    ArgBounds "arg_bounds" Error "An arg takes no larger number than the service does."
    RequireUnknown "require_unknown" Error "What a write requires is in an answer that the description has."
    CaseUnknown "case_unknown" Error "A case asks for and answers with what the description has."
    CaseMember "case_member" Error "A member of a case's answer is one that the description has."
    CaseType "case_type" Error "A value of a case's answer has the described type."
    CaseQuery "case_query" Error "A module's query in a case has values that the description lists."
    CaseCoverage "case_coverage" Error "Every picked field comes back in some case."
    PickNothing "pick_nothing" Warning "Something of an answer that has a body is picked."
    PickPartial "pick_partial" Warning "A picked field is in every successful answer."
    PagePath "page_path" Warning "A further page is on a path that the description has."
    PageFed "page_fed" Warning "What carries the pages on is not an arg of the op."
    ErrorUnknown "error_unknown" Warning "Failures keep their text where the manifest looks for it."
    Deprecated "deprecated" Warning "Nothing that is used is deprecated."
    Unchecked "unchecked" Warning "An op can be held against the description."

    DocumentInvalid "document_invalid" Error "A GraphQL document is valid by the schema."
    FieldUnknown "field_unknown" Error "A field that a document selects is one of the schema's."
    ArgumentUnknown "argument_unknown" Error "An argument of a field or directive is one of the schema's."
    ArgumentMissing "argument_missing" Error "Every argument that a field requires is given."
    VariableType "variable_type" Error "A variable has a type of the schema's, and one that may stand where it is used."
    PickUnselected "pick_unselected" Error "A picked field is one that the document selects."
}
