//! Forms that hold secrets, and the client's own in the header.
//!
//! INVARIANT: a buffer is as large as it will be from the start (one that grows leaves copies behind) and zeroised at the
//! end. RFC 6749, sections 2.3.1 and appendix B.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use url::form_urlencoded::byte_serialize;
use zeroize::Zeroizing;

use super::Client;
use crate::net::{Media, Posting};
use pinhole_manifest::model::ClientAuth;

/// A form in the making.
pub(super) struct Form<'a> {
    pairs: Vec<(&'static str, &'a str)>,
    authorization: Option<Zeroizing<String>>,
}

impl<'a> Form<'a> {
    /// A form that shows the client as the manifest says.
    pub(super) fn of(client: &'a Client, auth: ClientAuth) -> Self {
        let mut form = Self { pairs: Vec::new(), authorization: None };
        match (client, auth) {
            (Client::Public { id }, _) => form.add("client_id", id.as_str()),
            (Client::Confidential { id, secret }, ClientAuth::Post) => {
                form.add("client_id", id.as_str());
                form.add("client_secret", secret.expose());
            }
            (Client::Confidential { id, secret }, ClientAuth::Basic) => {
                form.authorization = Some(basic(id.as_str(), secret.expose()));
            }
        }
        form
    }

    pub(super) fn add(&mut self, name: &'static str, value: &'a str) {
        self.pairs.push((name, value));
    }

    pub(super) fn into_posting(self) -> Posting {
        let capacity = self.pairs.iter().map(|(name, value)| encoded_max(name) + encoded_max(value)).sum();
        let mut body = Zeroizing::new(Vec::with_capacity(capacity));
        for (name, value) in self.pairs {
            if !body.is_empty() {
                body.push(b'&');
            }
            encode(name, &mut body);
            body.push(b'=');
            encode(value, &mut body);
        }
        Posting { media: Media::Form, body, authorization: self.authorization }
    }
}

/// Three bytes for each, and one for the `=` or `&` behind it.
fn encoded_max(text: &str) -> usize {
    text.len().saturating_mul(3).saturating_add(1)
}

fn encode(text: &str, into: &mut Vec<u8>) {
    byte_serialize(text.as_bytes()).for_each(|piece| into.extend_from_slice(piece.as_bytes()));
}

/// Id and secret are encoded as in a form before they stand in `Basic`, so that a colon in the id is none between them.
fn basic(id: &str, secret: &str) -> Zeroizing<String> {
    const SCHEME: &str = "Basic ";
    let mut pair = Zeroizing::new(Vec::with_capacity(encoded_max(id) + encoded_max(secret)));
    encode(id, &mut pair);
    pair.push(b':');
    encode(secret, &mut pair);
    let mut value = Zeroizing::new(String::with_capacity(SCHEME.len() + pair.len().div_ceil(3) * 4));
    value.push_str(SCHEME);
    STANDARD.encode_string(&*pair, &mut value);
    value
}

#[cfg(test)]
mod tests {
    use pinhole_grant::{ClientId, Secret};

    use super::*;

    #[test]
    fn the_client_is_shown_once_and_encoded_before_it_stands_in_basic() {
        let id = ClientId::parse("a:b").unwrap();
        let secret = || Secret::new("p%ss w/rd+=".replace(' ', "&")).unwrap();
        let client = Client::Confidential { id: id.clone(), secret: secret() };
        let basic = Form::of(&client, ClientAuth::Basic).into_posting();
        // `a%3Ab:p%25ss%26w%2Frd%2B%3D`
        let expected = format!("Basic {}", STANDARD.encode("a%3Ab:p%25ss%26w%2Frd%2B%3D"));
        assert_eq!(basic.authorization.unwrap().as_str(), expected);
        assert!(basic.body.is_empty());
        let post = Form::of(&client, ClientAuth::Post).into_posting();
        assert_eq!(
            str::from_utf8(&post.body).unwrap(),
            "client_id=a%3Ab&client_secret=p%25ss%26w%2Frd%2B%3D"
        );
        assert!(post.authorization.is_none());
        // One that has no secret says who it is, whatever the manifest has for those that do.
        let public = Client::Public { id };
        for auth in [ClientAuth::Basic, ClientAuth::Post] {
            let form = Form::of(&public, auth).into_posting();
            assert_eq!(&**form.body, b"client_id=a%3Ab");
            assert!(form.authorization.is_none());
        }
    }
}
