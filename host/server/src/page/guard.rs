//! Who may ask at all: the name that was dialled, and where a request comes from.
//!
//! Opens nothing by itself: the cookie does (`door.rs`). INVARIANT: a request that another site's page made, of whatever
//! kind, reads nothing and changes nothing. W3C Fetch Metadata; RFC 6454.

use http::header::{HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Why a request is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Barred {
    /// It names another host: a name that was made to lead here.
    #[error("this page answers to `127.0.0.1` and its port, and to no other name")]
    Host,
    /// It would stand within another page.
    #[error("this page does not stand within another")]
    Framed,
    /// Another page sent it.
    #[error("another page sent this, and nothing was done")]
    Elsewhere,
    /// Neither GET nor POST.
    #[error("this page takes GET and POST alone")]
    Method,
}

/// Where a request comes from, as its browser says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// This page itself, the person, or a client that says nothing.
    Here,
    /// A page of another site, or of another port.
    Elsewhere,
}

/// Holds a request against what any request must be.
pub(super) fn check(parts: &Parts, port: u16) -> Result<From, Barred> {
    let host = one(&parts.headers, &HOST).ok_or(Barred::Host)?;
    let names = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    // A target with a name of its own would count before the header.
    if parts.uri.authority().is_some() || !names.iter().any(|name| name == host) {
        return Err(Barred::Host);
    }
    let from = from(&parts.headers);
    match parts.method {
        Method::GET => Ok(from),
        Method::POST => {
            let own = format!("http://{host}");
            let same = one(&parts.headers, &ORIGIN).is_some_and(|origin| origin == own);
            if same && from == From::Here { Ok(From::Here) } else { Err(Barred::Elsewhere) }
        }
        _ => Err(Barred::Method),
    }
}

/// Refuses what is to be anything but a page of its own, where the browser says so.
pub(super) fn whole_page(headers: &HeaderMap) -> Result<(), Barred> {
    let said = headers.get_all(DEST).iter().all(|dest| dest == "document");
    if said { Ok(()) } else { Err(Barred::Framed) }
}

fn from(headers: &HeaderMap) -> From {
    let here = headers.get_all(SITE).iter().all(|site| site == "same-origin" || site == "none");
    if here { From::Here } else { From::Elsewhere }
}

/// The one value of a header; of several none is believed.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn parts(method: &str, target: &str, headers: &[(&str, &str)]) -> Parts {
        let request = Request::builder().method(method).uri(target);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_this_page_s_own_name_is_answered_to() {
        for host in ["127.0.0.1:80", "localhost:80"] {
            assert_eq!(check(&parts("GET", "/", &[("host", host)]), 80), Ok(From::Here));
        }
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:81",
            "127.0.0.1:80.",
            "localhost",
            "LOCALHOST:80",
            "localhost.:80",
            "evil.example:80",
            "127.1:80",
            "[::1]:80",
            "user@127.0.0.1:80",
        ] {
            assert_eq!(check(&parts("GET", "/", &[("host", host)]), 80), Err(Barred::Host), "{host}");
        }
        assert_eq!(check(&parts("GET", "/", &[]), 80), Err(Barred::Host));
        let two = [("host", "127.0.0.1:80"), ("host", "evil.example")];
        assert_eq!(check(&parts("GET", "/", &two), 80), Err(Barred::Host));
        let absolute = parts("GET", "http://evil.example/", &[("host", "127.0.0.1:80")]);
        assert_eq!(check(&absolute, 80), Err(Barred::Host));
    }

    #[test]
    fn a_form_comes_from_this_page() {
        let host = ("host", "127.0.0.1:80");
        let own = ("origin", "http://127.0.0.1:80");
        let posted = |headers: &[(&str, &str)]| check(&parts("POST", "/", headers), 80);
        assert_eq!(posted(&[host, own]), Ok(From::Here));
        assert_eq!(posted(&[host, own, ("sec-fetch-site", "same-origin")]), Ok(From::Here));
        for origin in [
            "null",
            "",
            "http://127.0.0.1",
            "http://127.0.0.1:81",
            "https://127.0.0.1:80",
            "http://localhost:80",
            "http://evil.example:80",
            "http://127.0.0.1:80/",
        ] {
            assert_eq!(posted(&[host, ("origin", origin)]), Err(Barred::Elsewhere), "{origin}");
        }
        assert_eq!(posted(&[host]), Err(Barred::Elsewhere));
        assert_eq!(posted(&[host, own, own]), Err(Barred::Elsewhere));
        for site in ["cross-site", "same-site", "", "SAME-ORIGIN"] {
            assert_eq!(posted(&[host, own, ("sec-fetch-site", site)]), Err(Barred::Elsewhere), "{site}");
        }
    }

    #[test]
    fn what_is_neither_got_nor_posted_is_refused() {
        for method in ["HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
            let asked = check(&parts(method, "/", &[("host", "127.0.0.1:80")]), 80);
            assert_eq!(asked, Err(Barred::Method), "{method}");
        }
    }

    #[test]
    fn nothing_but_a_page_of_its_own_is_given() {
        for (dest, given) in [("document", true), ("iframe", false), ("embed", false), ("empty", false)] {
            let headers = parts("GET", "/", &[("sec-fetch-dest", dest)]).headers;
            assert_eq!(whole_page(&headers).is_ok(), given, "{dest}");
        }
        assert!(whole_page(&HeaderMap::new()).is_ok());
    }
}
