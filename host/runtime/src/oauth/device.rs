//! The device flow: the person types a code at the service's page, on any device, and is waited for here. RFC 8628.
//!
//! Refuses to ask more often than the server says. INVARIANT: every wait lies inside the life of the device code.

use std::time::Duration;

use pinhole_grant::{Secret, UnixTime};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_manifest::visible::is_plain_line;

use super::answer::secret;
use super::error::Meaning;
use super::{FreshPair, TokenEndpoint, TokenError, Unreadable, scopes};
use crate::clock::{Clock, Timer};

/// How often it is asked where the server does not say, in seconds (RFC 8628, section 3.2), and how much more seldom after
/// `slow_down` (section 3.5).
const INTERVAL: i64 = 5;
/// Most seconds between two questions that a server may ask for.
const INTERVAL_MAX: i64 = 300;
/// Longest life of a device code that is waited for, in seconds.
const LIFE_MAX: i64 = 30 * 60;
/// Longest code that a person is asked to type, in characters.
const USER_CODE_MAX: usize = 64;

/// A device flow that has begun.
#[derive(Debug)]
pub struct DeviceStart {
    device_code: Secret,
    user_code: String,
    page: HttpsUrl,
    page_with_code: Option<HttpsUrl>,
    expires_at: UnixTime,
    interval: i64,
}

impl DeviceStart {
    /// What the person types: one plain line.
    pub fn user_code(&self) -> &str {
        &self.user_code
    }

    /// Where.
    pub fn page(&self) -> &HttpsUrl {
        &self.page
    }

    /// Where nothing need be typed.
    pub fn page_with_code(&self) -> Option<&HttpsUrl> {
        self.page_with_code.as_ref()
    }

    /// Until when.
    pub fn expires_at(&self) -> UnixTime {
        self.expires_at
    }
}

/// Why the device flow gave no pair.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The person said no.
    #[error("the connection was declined on the service's page")]
    Denied,
    /// The code was not typed in time.
    #[error("the code was not typed in time")]
    Expired,
    /// The server gave none.
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl TokenEndpoint<'_> {
    /// Begins the device flow.
    pub async fn device(&self, cap: Access) -> Result<DeviceStart, TokenError> {
        let url = self.oauth.device_url.as_ref().ok_or(TokenError::NotOffered("URL for the device flow"))?;
        let scope = scopes::asked(self.oauth, cap).join(" ");
        let mut form = self.form();
        if !scope.is_empty() {
            form.add("scope", &scope);
        }
        let answer = self.ask(url, form).await?;
        let members = answer.said()?;
        let lacks = || TokenError::unreadable(Unreadable::Device);
        let page = |name| members.text(name).map(HttpsUrl::parse).transpose().map_err(|_source| lacks());
        let user_code = members.text("user_code").ok_or_else(lacks)?;
        if user_code.chars().count() > USER_CODE_MAX || !is_plain_line(user_code) {
            return Err(lacks());
        }
        let life = members.seconds("expires_in").ok_or_else(lacks)?.min(LIFE_MAX);
        Ok(DeviceStart {
            device_code: secret(members.text("device_code").ok_or_else(lacks)?)?,
            user_code: user_code.to_owned(),
            page: page("verification_uri")?.or(page("verification_url")?).ok_or_else(lacks)?,
            page_with_code: page("verification_uri_complete")?,
            expires_at: self.now.plus_secs(life),
            interval: members.seconds("interval").unwrap_or(INTERVAL).min(INTERVAL_MAX),
        })
    }

    /// Waits until the person has answered at the service's page.
    pub async fn device_pair(
        &self,
        start: &DeviceStart,
        cap: Access,
        clock: &dyn Clock,
        timer: &dyn Timer,
    ) -> Result<FreshPair, DeviceError> {
        let mut interval = start.interval;
        loop {
            if clock.now().plus_secs(interval) >= start.expires_at {
                return Err(DeviceError::Expired);
            }
            timer.wait(Duration::from_secs(u64::try_from(interval).unwrap_or(1))).await;
            let asked = TokenEndpoint { now: clock.now(), ..*self };
            match asked.poll(start, cap).await? {
                Poll::Pair(pair) => return Ok(pair),
                Poll::Pending => {}
                Poll::SlowDown => interval = interval.saturating_add(INTERVAL),
                Poll::Away => interval = interval.saturating_mul(2),
            }
        }
    }

    async fn poll(&self, start: &DeviceStart, cap: Access) -> Result<Poll, DeviceError> {
        let mut form = self.form();
        form.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code");
        form.add("device_code", start.device_code.expose());
        let answer = match self.ask(&self.oauth.token_url, form).await {
            // The answer may have held the pair; if it did, the next one says that the code is used.
            Err(TokenError::Unavailable { .. }) => return Ok(Poll::Away),
            asked => asked?,
        };
        match answer.code().map(|code| (code.as_str(), code.meaning())) {
            Some((_, Meaning::Pending)) => return Ok(Poll::Pending),
            Some((_, Meaning::SlowDown)) => return Ok(Poll::SlowDown),
            Some((_, Meaning::Denied)) => return Err(DeviceError::Denied),
            Some(("expired_token", _)) => return Err(DeviceError::Expired),
            _ => {}
        }
        match answer.pair(self.now) {
            Err(TokenError::Unavailable { .. }) => Ok(Poll::Away),
            pair => Ok(Poll::Pair(self.within(pair?, cap).await?)),
        }
    }
}

enum Poll {
    Pair(FreshPair),
    Pending,
    SlowDown,
    /// There was no answer: it is asked more seldom (RFC 8628, section 3.5).
    Away,
}
