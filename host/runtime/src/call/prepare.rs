//! From a call that may run to the request that would be sent. The credential goes in last.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use pinhole_grant::{Credential, CredentialKind};
use pinhole_manifest::model::{Action, Args, AuthScheme, Request};
use pinhole_manifest::{Digest, Manifest};
use zeroize::Zeroizing;

use super::authorize::Authorized;
use super::fresh::{Fresh, Keys};
use super::module::Ready;
use super::open::Agreed;
use super::page::OnPage;
use super::{Call, Executor};
use crate::net::Outgoing;
use crate::outcome::{Code, Refusal};
use crate::render::{self, Change, Narrowed, RenderError, Rendered};

/// What stands for the key wherever a request is shown.
const CREDENTIAL_SHOWN: &str = "<credential>";

/// All that is needed is there. Only this gets a permit.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) page: OnPage<'a>,
    pub(super) keys: Keys,
    pub(super) work: Work<'a>,
}

/// What answers the call.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and a box for it would cost each call"
)]
pub(super) enum Work<'a> {
    /// The op's one request, whole.
    Request(Outgoing),
    /// A module that computes the answer out of requests of its own.
    Module(Ready<'a>),
}

impl<'a> Call<Fresh<'a>> {
    /// Renders the request and puts the credential in, or makes the op's module ready.
    pub(super) async fn prepare(self, executor: &Executor) -> Result<Call<Prepared<'a>>, Refusal> {
        let agreed = &self.stage.page.authorized.agreed;
        let work = match &agreed.op.action {
            Action::Request(_) => Work::Request(self.outgoing(executor)?),
            Action::Module(module) => Work::Module(Ready::make(module, agreed, executor).await?),
        };
        let Fresh { page, keys } = self.stage;
        Ok(Call { stage: Prepared { page, keys, work } })
    }

    fn outgoing(&self, executor: &Executor) -> Result<Outgoing, Refusal> {
        let Fresh { page, keys } = &self.stage;
        let mut rendered = page.render()?;
        rendered.headers.extend(page.idempotency_header(executor));
        let agreed = &page.authorized.agreed;
        with_credential(rendered, agreed.manifest, keys.current().credential(agreed))
    }
}

impl OnPage<'_> {
    /// The header by which the service knows a repeated write: the same for every try of the same call under the same
    /// grant, or with the same key of its caller, and for nothing else.
    pub(super) fn idempotency_header(&self, executor: &Executor) -> Option<(String, String)> {
        let Authorized { agreed, args, action, .. } = &self.authorized;
        let name = agreed.op.idempotency.clone()?;
        let of_grant = || Digest::of(format!("{}/{action}", agreed.grant().id()).as_bytes()).to_string();
        let value = agreed.header_of_key(args, executor).unwrap_or_else(of_grant);
        Some((name, value.replace("sha256:", "pinhole-")))
    }

    /// The request without its credential.
    pub(super) fn render(&self) -> Result<Rendered, Refusal> {
        let agreed = &self.authorized.agreed;
        let request = agreed.request_of_op()?;
        let narrows = |arg: &_| self.narrows(arg);
        render(agreed.manifest, request, &self.authorized.args, &self.change(Narrowed(&narrows)))
    }
}

impl<'a> Agreed<'a> {
    /// The request that the op spells. An op that is computed has none, and whoever asks here knows that it is not.
    pub(super) fn request_of_op(&self) -> Result<&'a Request, Refusal> {
        let none = || Refusal::new(Code::ModuleInvalid).saying("the op sends no request of its own");
        self.op.request().ok_or_else(none)
    }
}

/// Renders a request of this manifest.
pub(super) fn render(
    manifest: &Manifest,
    request: &Request,
    args: &Args,
    change: &Change<'_>,
) -> Result<Rendered, Refusal> {
    render::render_page(manifest, request, args, change).map_err(|error| match error {
        // A page that was handed out under another grant, which did not narrow what this one does.
        RenderError::PageAstray => Refusal::new(Code::ArgsOutOfScope).saying(error.to_string()),
        _ => Refusal::new(Code::ArgRefused).saying(error.to_string()),
    })
}

/// Puts the credential into a rendered request.
pub(super) fn with_credential(
    rendered: Rendered,
    manifest: &Manifest,
    credential: &Credential,
) -> Result<Outgoing, Refusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in &rendered.headers {
        insert(&mut headers, name, value)?;
    }
    Ok(Outgoing {
        method: rendered.method.as_str().parse().map_err(unusable)?,
        target: rendered.target,
        headers,
        credential: credential_header(manifest, credential)?,
        body: rendered.body.map(Bytes::from),
    })
}

/// The header that carries a credential.
pub(super) fn credential_header(
    manifest: &Manifest,
    credential: &Credential,
) -> Result<(HeaderName, HeaderValue), Refusal> {
    let scheme = scheme_of(manifest, credential);
    let value = credential_value(scheme, credential.secret().expose());
    let mut value = HeaderValue::from_str(&value).map_err(unusable)?;
    value.set_sensitive(true);
    let name = HeaderName::from_bytes(scheme.header_name().as_bytes()).map_err(unusable)?;
    Ok((name, value))
}

/// Where a credential stands in a request: a key where the manifest says, a token from an OAuth exchange as RFC 6750 has it,
/// whatever the service does with its keys.
pub(super) fn scheme_of<'a>(manifest: &'a Manifest, credential: &Credential) -> &'a AuthScheme {
    static BEARER: AuthScheme = AuthScheme::Bearer;
    match credential.kind() {
        CredentialKind::Pat => &manifest.auth().scheme,
        CredentialKind::Oauth => &BEARER,
    }
}

/// The value of the header that carries a key.
pub(crate) fn credential_value(scheme: &AuthScheme, key: &str) -> Zeroizing<String> {
    Zeroizing::new(match scheme {
        AuthScheme::Bearer => format!("Bearer {key}"),
        AuthScheme::Basic => {
            format!("Basic {}", STANDARD.encode(Zeroizing::new(format!("{key}:")).as_bytes()))
        }
        AuthScheme::Bare | AuthScheme::Header(_) => key.to_owned(),
    })
}

/// The same value with the key left out, for people.
pub(crate) fn credential_value_shown(scheme: &AuthScheme) -> String {
    match scheme {
        AuthScheme::Bearer => format!("Bearer {CREDENTIAL_SHOWN}"),
        AuthScheme::Basic => format!("Basic {CREDENTIAL_SHOWN}"),
        AuthScheme::Bare | AuthScheme::Header(_) => CREDENTIAL_SHOWN.to_owned(),
    }
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), Refusal> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(unusable)?;
    headers.insert(name, HeaderValue::from_str(value).map_err(unusable)?);
    Ok(())
}

/// The manifest and the credential were checked for this when they were read; should a check have a gap, this closes it.
fn unusable(error: impl std::error::Error) -> Refusal {
    // The error's own text says nothing of the value.
    Refusal::new(Code::ArgRefused)
        .saying("a header of the request is not one that HTTP allows")
        .detail(&error)
}
