//! What a flow begins with: who wants to connect what, and where the browser goes at the end.
//!
//! Refuses any end but a port of the loopback address, written in one way, so that no code leaves the person's own machine.
//! INVARIANT: each of the five is there once, and nothing else is. RFC 8252, section 7.3; RFC 9700, section 4.1.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pinhole_grant::PublicKey;
use pinhole_manifest::Access;

/// Longest text of them, in bytes.
const BYTES_MAX: usize = 2_048;
/// Longest path of the loopback address, in bytes.
const PATH_MAX: usize = 128;
/// The names, in the order in which they are signed.
const NAMES: [&str; 5] = ["cap", "redirect", "key", "challenge", "state"];

/// Why a flow does not begin. Each says what to do; none says what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoStart {
    /// Too long, or not the five.
    #[error("send `cap`, `redirect`, `key`, `challenge` and `state`, each once, and nothing else")]
    Names,
    /// Neither word.
    #[error("`cap` is `read` or `write`")]
    Cap,
    /// Not the loopback address.
    #[error(
        "`redirect` is `http://127.0.0.1:PORT/…` or `http://[::1]:PORT/…`, with a plain path and nothing behind it"
    )]
    Redirect,
    /// No key.
    #[error("`key` is a member's public key, whole: `pin1…`")]
    Key,
    /// Not what S256 makes.
    #[error("`challenge` is the base64url of a SHA-256: 43 characters")]
    Challenge,
    /// Too short to be one, or too long.
    #[error("`state` is 22 to 128 characters of base64url")]
    State,
}

/// The five.
#[derive(Debug, Clone)]
pub(super) struct Start {
    pub(super) cap: Access,
    /// `http://127.0.0.1:PORT/…` or `http://[::1]:PORT/…`.
    pub(super) redirect: String,
    pub(super) key: PublicKey,
    pub(super) challenge: String,
    /// Goes back with the code. It is who started's, and means nothing here.
    pub(super) state: String,
}

impl Start {
    /// Reads a query or a form.
    pub(super) fn read(text: &str) -> Result<Self, NoStart> {
        Self::of(fields(text, NAMES).ok_or(NoStart::Names)?)
    }

    /// Reads a form, with what it carries.
    pub(super) fn read_form(text: &str) -> Result<(Self, String), NoStart> {
        let [cap, redirect, key, challenge, state] = NAMES;
        let [cap, redirect, key, challenge, state, carried] =
            fields(text, [cap, redirect, key, challenge, state, "form"]).ok_or(NoStart::Names)?;
        Ok((Self::of([cap, redirect, key, challenge, state])?, carried))
    }

    fn of([cap, redirect, key, challenge, state]: [String; 5]) -> Result<Self, NoStart> {
        let cap = match cap.as_str() {
            "read" => Access::Read,
            "write" => Access::Write,
            _ => return Err(NoStart::Cap),
        };
        if !is_loopback(&redirect) {
            return Err(NoStart::Redirect);
        }
        let key = key.parse().or(Err(NoStart::Key))?;
        if URL_SAFE_NO_PAD.decode(&challenge).map(|bytes| bytes.len()) != Ok(32) {
            return Err(NoStart::Challenge);
        }
        if !(22..=128).contains(&state.len()) || !state.bytes().all(is_base64url) {
            return Err(NoStart::State);
        }
        Ok(Self { cap, redirect, key, challenge, state })
    }

    /// The names and values, as a form carries them.
    pub(super) fn fields(&self) -> [(&'static str, String); 5] {
        let [cap, redirect, key, challenge, state] = NAMES;
        [
            (cap, self.cap.to_string()),
            (redirect, self.redirect.clone()),
            (key, self.key.to_string()),
            (challenge, self.challenge.clone()),
            (state, self.state.clone()),
        ]
    }
}

/// The values under exactly these names, each there once.
fn fields<const N: usize>(text: &str, names: [&str; N]) -> Option<[String; N]> {
    if text.len() > BYTES_MAX {
        return None;
    }
    let mut values = [const { None }; N];
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        let at = names.iter().position(|known| *known == name)?;
        if values.get_mut(at)?.replace(value.into_owned()).is_some() {
            return None;
        }
    }
    let values: Option<Vec<String>> = values.into_iter().collect();
    values?.try_into().ok()
}

/// By its characters, not by a parser that takes a hundred forms: two hosts, a port, a plain path.
pub(super) fn is_loopback(text: &str) -> bool {
    let Some(rest) = ["http://127.0.0.1:", "http://[::1]:"].iter().find_map(|start| text.strip_prefix(start))
    else {
        return false;
    };
    let Some((port, path)) = rest.split_once('/') else { return false };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit())
        && !port.starts_with('0')
        && port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_path = path.len() <= PATH_MAX && path.bytes().all(|byte| is_base64url(byte) || byte == b'/');
    is_port && is_path && !path.starts_with('/') && !path.contains("//")
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_port_of_the_loopback_address_is_an_end() {
        for good in [
            "http://127.0.0.1:4711/",
            "http://127.0.0.1:1/callback",
            "http://[::1]:65535/a/b-_1",
            "http://127.0.0.1:80/",
        ] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in [
            "",
            "http://127.0.0.1/",
            "http://127.0.0.1:4711",
            "http://127.0.0.1:/",
            "http://127.0.0.1:0/",
            "http://127.0.0.1:080/",
            "http://127.0.0.1:65536/",
            "http://127.0.0.1:4711a/",
            "http://127.0.0.1:+4711/",
            "https://127.0.0.1:4711/",
            "HTTP://127.0.0.1:4711/",
            " http://127.0.0.1:4711/",
            "http://127.0.0.1:4711/ ",
            "http:/127.0.0.1:4711/",
            "http:127.0.0.1:4711/",
            "http://127.1:4711/",
            "http://127.0.0.2:4711/",
            "http://0177.0.0.1:4711/",
            "http://2130706433:4711/",
            "http://0x7f000001:4711/",
            "http://0:4711/",
            "http://localhost:4711/",
            "http://localhost.evil.example:4711/",
            "http://127.0.0.1.evil.example:4711/",
            "http://evil.example/http://127.0.0.1:4711/",
            "http://user@127.0.0.1:4711/",
            "http://127.0.0.1:4711@evil.example/",
            "http://127.0.0.1:pass@evil.example:80/",
            "http://127.0.0.1:4711\\@evil.example/",
            "http://127.0.0.1:4711//evil.example/",
            "http://127.0.0.1:4711/a//b",
            "http://127.0.0.1:4711/../",
            "http://127.0.0.1:4711/a.b",
            "http://127.0.0.1:4711/%2f",
            "http://127.0.0.1:4711/?code=1",
            "http://127.0.0.1:4711/#a",
            "http://127.0.0.1:4711/;a",
            "http://[::1%25lo]:4711/",
            "http://[0:0:0:0:0:0:0:1]:4711/",
            "http://[::ffff:127.0.0.1]:4711/",
            "http://[::]:4711/",
            "http://::1:4711/",
            "http://\u{ff11}27.0.0.1:4711/",
            "http://127.0.0.1:\u{661}/",
            "javascript:alert(1)",
            "//127.0.0.1:4711/",
            "http://127.0.0.1:4711/\r\nset-cookie:a=b",
        ] {
            assert!(!is_loopback(bad), "{bad}");
        }
        assert!(!is_loopback(&format!("http://127.0.0.1:4711/{}", "a".repeat(PATH_MAX + 1))));
    }

    #[test]
    fn each_name_is_there_once_and_no_other() {
        let good = "cap=read&redirect=a&key=b&challenge=c&state=d";
        assert!(fields(good, NAMES).is_some());
        let twice = format!("{good}&cap=write");
        let other = format!("{good}&scope=all");
        let long = format!("{good}{}", "e".repeat(BYTES_MAX));
        for bad in [&twice, &other, &long, "cap=read&redirect=a&key=b&challenge=c", ""] {
            assert_eq!(fields(bad, NAMES), None, "{bad}");
        }
    }
}
