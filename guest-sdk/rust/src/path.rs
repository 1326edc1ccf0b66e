//! The path of a request. INVARIANT: a value is one whole segment, percent-encoded; what cannot be one makes the path
//! unfit to be sent, and never another path.

use std::fmt::{Display, Write as _};

/// The path of a request: a fixed one (`"/user"`), or one of the macro [`crate::path!`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    pub(crate) text: String,
    pub(crate) fault: Option<&'static str>,
}

impl Path {
    #[doc(hidden)]
    pub fn of(text: String, fault: Option<&'static str>) -> Self {
        Self { text, fault }
    }
}

impl From<&'static str> for Path {
    fn from(text: &'static str) -> Self {
        Self { text: text.to_owned(), fault: None }
    }
}

/// A path with values in it: `path!("/repos/{}/{}/issues", owner, repo)`. Each `{}` takes one value, as one segment,
/// percent-encoded. An empty value, `.` and `..` make a path that [`crate::Request::send`] refuses.
///
/// A value that is spliced in by name would not be encoded, and does not compile:
///
/// ```compile_fail
/// let owner = "octo/../..";
/// let path = pinhole_guest::path!("/users/{owner}");
/// ```
#[macro_export]
macro_rules! path {
    ($shape:literal $(, $value:expr)+ $(,)?) => {{
        let mut fault = ::std::option::Option::None;
        // `concat!` keeps names from being spliced in.
        let text = ::std::format!(::std::concat!($shape), $($crate::segment(&$value, &mut fault)),+);
        $crate::Path::of(text, fault)
    }};
    ($shape:literal $(,)?) => {
        $crate::Path::of(::std::format!(::std::concat!($shape)), ::std::option::Option::None)
    };
}

/// A value as one segment. The first fault stays.
#[doc(hidden)]
pub fn segment(value: &dyn Display, fault: &mut Option<&'static str>) -> String {
    let text = value.to_string();
    let found = match text.as_str() {
        "" => Some("a value of its path is empty"),
        "." | ".." => Some("a value of its path is `.` or `..`"),
        _ if text.chars().any(char::is_control) => Some("a value of its path holds a control character"),
        _ => None,
    };
    *fault = fault.or(found);
    encoded(&text)
}

fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a text does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_value_is_one_segment_whatever_it_holds() {
        let path = path!("/repos/{}/{}/issues", "a/b?c#d%", "é \u{202e}");
        assert_eq!(path.text, "/repos/a%2Fb%3Fc%23d%25/%C3%A9%20%E2%80%AE/issues");
        assert_eq!(path.fault, None);
        assert_eq!(path!("/v2/{}/zones", 7_001_u32).text, "/v2/7001/zones");
    }

    #[test]
    fn a_value_that_is_no_segment_makes_the_path_unfit() {
        for value in ["", ".", "..", "a\nb", "\0"] {
            assert!(path!("/repos/{}/{}", "good", value).fault.is_some(), "{value:?}");
            assert!(path!("/repos/{}/{}", value, "good").fault.is_some(), "{value:?}");
        }
        assert!(path!("/repos/{}", "...").fault.is_none());
    }
}
