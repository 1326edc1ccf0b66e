//! The stand-in's own certificate authority and the certificates that it signs, good and bad.
//!
//! Keys are made anew each time and stay in memory. No certificate of this authority is worth anything outside the
//! process that trusts it.

use std::fmt;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// What is wrong with the stand-in's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Certificate {
    /// Nothing: for the right name, in date, signed by the authority of [`Standin::ca_pem`](crate::Standin::ca_pem).
    #[default]
    Good,
    /// It ended in 2001.
    Expired,
    /// It begins in 4000.
    NotYetValid,
    /// It is its own issuer.
    SelfSigned,
    /// It is for `wrong.example.com`.
    WrongName,
    /// Another authority signed it, of the same name.
    OtherCa,
}

/// A certificate authority, to be shared by several stand-ins. Clones are the same authority.
#[derive(Clone)]
pub struct Authority {
    issuer: Arc<CertifiedIssuer<'static, KeyPair>>,
    pem: Arc<str>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}

/// Why no certificate could be made.
#[derive(Debug, thiserror::Error)]
#[error("no certificate could be made")]
pub struct AuthorityError(#[from] rcgen::Error);

/// A certificate with its key, ready for a TLS server.
pub(crate) struct Leaf {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Authority {
    /// A new authority with a new key.
    ///
    /// # Errors
    /// Where the key or the certificate cannot be made: the machine has no randomness.
    pub fn new() -> Result<Self, AuthorityError> {
        let mut params = CertificateParams::new(Vec::<String>::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.distinguished_name.push(DnType::CommonName, "Pinhole stand-in authority");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let pem = issuer.pem().into();
        Ok(Self { issuer: Arc::new(issuer), pem })
    }

    /// The authority's certificate, in PEM: what a client is to trust.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A good certificate for a server of another's making, and its key, both in PEM.
    ///
    /// # Errors
    /// Where the host is no DNS name, or the machine has no randomness.
    pub fn server_pem(&self, host: &str) -> Result<(String, String), AuthorityError> {
        let (certificate, key) = self.signed(host, Certificate::Good)?;
        Ok((certificate.pem(), key.serialize_pem()))
    }

    pub(crate) fn leaf(&self, host: &str, kind: Certificate) -> Result<Leaf, AuthorityError> {
        let (certificate, key) = self.signed(host, kind)?;
        Ok(Leaf {
            chain: vec![certificate.der().clone()],
            key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        })
    }

    fn signed(&self, host: &str, kind: Certificate) -> Result<(rcgen::Certificate, KeyPair), AuthorityError> {
        let name = if kind == Certificate::WrongName { "wrong.example.com" } else { host };
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        match kind {
            Certificate::Expired => params.not_after = date_time_ymd(2001, 1, 1),
            Certificate::NotYetValid => params.not_before = date_time_ymd(4000, 1, 1),
            _ => {}
        }
        let key = KeyPair::generate()?;
        let certificate = match kind {
            Certificate::SelfSigned => params.self_signed(&key)?,
            Certificate::OtherCa => params.signed_by(&key, &Self::new()?.issuer)?,
            _ => params.signed_by(&key, &self.issuer)?,
        };
        Ok((certificate, key))
    }
}
