//! What an operator may say about the network: where to dial a host instead, and whom to believe there.
//!
//! Refuses an override of anything but port 443 of a public name, two for one host, and a CA that no override would use.
//! INVARIANT: an extra CA is believed only for overridden hosts; a host that is dialled for real is always held against the
//! public roots, so that a stand-in's CA can never vouch for the real service. DESIGN, "Pinned client": `--resolve`, `--ca-cert`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pinhole_manifest::ApiHost;
use pinhole_manifest::host::HostError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// One host that is dialled somewhere else: name, SNI, `Host` header and certificate check stay the pinned host's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialOverride {
    host: ApiHost,
    socket: SocketAddr,
}

/// Why a text is not a dial override.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OverrideError {
    /// It has not the four parts.
    #[error("write it as `HOST:443:ADDR:PORT`, such as `api.github.com:443:127.0.0.1:8443`")]
    Shape,
    /// The host is not a public name.
    #[error("the host cannot be pinned")]
    Host(#[source] HostError),
    /// The second part is not 443.
    #[error("the second part is the port of the real host, which is always 443")]
    Port,
    /// The address is not an IP address with a port.
    #[error("the address is an IPv4 address, or an IPv6 one in brackets, and a port from 1 to 65535")]
    Address,
}

impl DialOverride {
    /// Takes `HOST:443:ADDR:PORT`, with an IPv6 `ADDR` in brackets.
    pub fn parse(text: &str) -> Result<Self, OverrideError> {
        let (host, rest) = text.split_once(':').ok_or(OverrideError::Shape)?;
        let (port, socket) = rest.split_once(':').ok_or(OverrideError::Shape)?;
        let host = ApiHost::parse(host).map_err(OverrideError::Host)?;
        if port != "443" {
            return Err(OverrideError::Port);
        }
        let socket: SocketAddr = socket.parse().map_err(|_syntax| OverrideError::Address)?;
        if socket.port() == 0 || socket.ip().is_unspecified() {
            return Err(OverrideError::Address);
        }
        Ok(Self { host, socket })
    }

    /// The host that is not dialled for real.
    pub fn host(&self) -> &ApiHost {
        &self.host
    }
}

/// Time limits within the deadline of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageLimits {
    /// Name, connection and handshake together.
    pub connect: Duration,
    /// From there to the status and headers.
    pub header: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
}

impl Default for StageLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { connect: seconds(10), header: seconds(60), idle: seconds(20) }
    }
}

/// Everything that an operator may say. By default: nothing overridden, the public roots.
#[derive(Debug, Default)]
pub struct NetSettings {
    overrides: Vec<DialOverride>,
    extra_roots: Vec<CertificateDer<'static>>,
    limits: StageLimits,
}

/// Why settings make no client.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetSettingsError {
    /// The CA file is not PEM, or holds no certificate.
    #[error("the CA file holds no readable PEM certificate")]
    NoCertificate,
    /// A certificate in the CA file cannot be a root.
    #[error("a certificate in the CA file cannot be trusted as a root")]
    Root(#[source] rustls::Error),
    /// A CA without anything that it is for.
    #[error("a CA is believed only for hosts that are dialled elsewhere: give it together with an override")]
    CaWithoutOverride,
    /// Two overrides for one host.
    #[error("two overrides for `{0}`")]
    Twice(ApiHost),
    /// The HTTP library makes no client.
    #[error("no client can be made")]
    Client,
    /// The TLS library refuses its own settings.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

impl NetSettings {
    /// Dials one host elsewhere.
    #[must_use]
    pub fn with_override(mut self, dial: DialOverride) -> Self {
        self.overrides.push(dial);
        self
    }

    /// Believes the certificates in this PEM text, and them alone, for every overridden host.
    pub fn with_ca_pem(mut self, pem: &[u8]) -> Result<Self, NetSettingsError> {
        let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let roots = roots.map_err(|_syntax| NetSettingsError::NoCertificate)?;
        if roots.is_empty() {
            return Err(NetSettingsError::NoCertificate);
        }
        self.extra_roots.extend(roots);
        Ok(self)
    }

    /// Sets other time limits.
    #[must_use]
    pub fn with_limits(mut self, limits: StageLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The parts, checked against each other.
    pub(super) fn checked(self) -> Result<CheckedSettings, NetSettingsError> {
        let Self { overrides, extra_roots, limits } = self;
        if overrides.is_empty() && !extra_roots.is_empty() {
            return Err(NetSettingsError::CaWithoutOverride);
        }
        let mut sockets = BTreeMap::new();
        for DialOverride { host, socket } in overrides {
            if sockets.insert(host.clone(), socket).is_some() {
                return Err(NetSettingsError::Twice(host));
            }
        }
        let public = public_roots();
        let believed = stand_in_roots(extra_roots)?.unwrap_or_else(|| public.clone());
        Ok(CheckedSettings { sockets, limits, tls: tls(public)?, overridden_tls: tls(believed)? })
    }
}

fn public_roots() -> RootCertStore {
    webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect()
}

/// The operator's own roots and no other; nothing where there are none.
fn stand_in_roots(
    certificates: Vec<CertificateDer<'static>>,
) -> Result<Option<RootCertStore>, NetSettingsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate).map_err(NetSettingsError::Root)?;
    }
    Ok((!roots.is_empty()).then_some(roots))
}

/// Settings that make a client.
pub(super) struct CheckedSettings {
    pub(super) sockets: BTreeMap<ApiHost, SocketAddr>,
    pub(super) limits: StageLimits,
    /// For hosts that are dialled for real.
    pub(super) tls: ClientConfig,
    /// For hosts that are dialled elsewhere.
    pub(super) overridden_tls: ClientConfig,
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, NetSettingsError> {
    // Named here instead of installed for the process: an embedding application may have its own.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(NetSettingsError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // A configuration of one's own is used as it is: without this, HTTP/2 is never offered.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
