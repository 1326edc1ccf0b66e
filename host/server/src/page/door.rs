//! Who has entered: the one-time code of the address, and the cookie that it becomes.
//!
//! INVARIANT: one code lets one browser in, once. Code, cookie and form token are 256 random bits each, compared in constant
//! time, held in memory alone, and end with the process. DESIGN, "Doors": Local pages.

use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use pinhole_runtime::entropy::{Entropy, EntropyError};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// 256 random bits as text. `Debug` shows none of them.
pub(super) struct Random(Zeroizing<String>);

impl Random {
    fn draw(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(&mut *bytes)?;
        Ok(Self(Zeroizing::new(URL_SAFE_NO_PAD.encode(bytes.as_slice()))))
    }

    /// Whether a text is this one; how long it takes says nothing but whether the lengths are the same.
    pub(super) fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Another copy, which is wiped too.
    pub(super) fn copy(&self) -> Zeroizing<String> {
        self.0.clone()
    }
}

impl std::fmt::Debug for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Random(<secret>)")
    }
}

/// The door of one page.
#[derive(Debug)]
pub(super) struct Door {
    code: Random,
    used: AtomicBool,
    cookie: Random,
    token: Random,
    name: String,
}

/// Proof that a request came with the cookie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entered<'d>(&'d Door);

impl Door {
    /// A door that nobody has entered by. Cookies know no ports: their name has this one's.
    pub(super) fn new(port: u16, entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        Ok(Self {
            code: Random::draw(entropy)?,
            used: AtomicBool::new(false),
            cookie: Random::draw(entropy)?,
            token: Random::draw(entropy)?,
            name: format!("pinhole_page_{port}"),
        })
    }

    /// The one-time code.
    pub(super) fn code(&self) -> &str {
        self.code.expose()
    }

    /// Uses the code up. The first who shows it gets the cookie; nobody else ever does.
    pub(super) fn enter(&self, code: &str) -> Option<HeaderValue> {
        if !self.code.is(code) || self.used.swap(true, Ordering::SeqCst) {
            return None;
        }
        let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name, self.cookie.expose());
        let mut cookie = HeaderValue::from_str(&cookie).ok()?;
        cookie.set_sensitive(true);
        Some(cookie)
    }

    /// Whether a request came with the cookie.
    pub(super) fn entered(&self, headers: &HeaderMap) -> Option<Entered<'_>> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut values = lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.name);
        values.any(|(_, value)| self.cookie.is(value)).then_some(Entered(self))
    }
}

impl<'d> Entered<'d> {
    /// What every form of the page carries, so that no other page can make one.
    pub(super) fn token(self) -> &'d Random {
        &self.0.token
    }
}

#[cfg(test)]
mod tests {
    use pinhole_runtime::entropy::SystemEntropy;

    use super::*;

    fn with(cookies: &[&str]) -> HeaderMap {
        cookies.iter().map(|cookie| (COOKIE, HeaderValue::from_str(cookie).unwrap())).collect()
    }

    #[test]
    fn a_code_is_used_up_by_the_first_who_shows_it_and_by_nobody_else() {
        let door = Door::new(4711, &SystemEntropy).unwrap();
        let code = door.code().to_owned();
        assert_eq!(code.len(), 43);
        for wrong in
            ["", "A", code.get(1..).unwrap(), &format!("{code}A"), door.cookie.expose(), door.token.expose()]
        {
            assert!(door.enter(wrong).is_none(), "{wrong}");
        }
        let cookie = door.enter(&code).unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(cookie.starts_with("pinhole_page_4711="), "{cookie}");
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
        assert!(!cookie.contains(&code));
        assert!(door.enter(&code).is_none());
    }

    #[test]
    fn only_the_cookie_enters_and_it_does_beside_others() {
        let door = Door::new(4711, &SystemEntropy).unwrap();
        let cookie = format!("pinhole_page_4711={}", door.cookie.expose());
        let other = Door::new(4712, &SystemEntropy).unwrap();
        let of_another_port = format!("pinhole_page_4712={}", door.cookie.expose());
        let of_another_page = format!("pinhole_page_4711={}", other.cookie.expose());
        for strange in [
            "",
            "pinhole_page_4711",
            "pinhole_page_4711=",
            &format!("pinhole_page_4711={}", door.code()),
            &format!("{cookie}A"),
            &of_another_port,
            &of_another_page,
        ] {
            assert!(door.entered(&with(&[strange])).is_none(), "{strange}");
        }
        assert!(door.entered(&HeaderMap::new()).is_none());
        for good in [&[cookie.as_str()][..], &[&format!("a=b; {cookie}; c")], &[&of_another_page, &cookie]] {
            assert!(door.entered(&with(good)).is_some(), "{good:?}");
        }
    }

    #[test]
    fn nothing_random_prints() {
        let door = Door::new(4711, &SystemEntropy).unwrap();
        let shown = format!("{door:?}");
        for secret in [&door.code, &door.cookie, &door.token] {
            assert!(!shown.contains(secret.expose()), "{shown}");
        }
    }
}
