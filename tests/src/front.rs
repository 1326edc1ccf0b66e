//! TLS in front of a server that has none, and the way through it for an executor: what is dialled for a service's host is
//! the front, which has a certificate for that name from an authority of the test's own.
//!
//! And the other way about: no TLS in front of a stand-in, for a server between the two that would not trust it.
//!
//! Passes bytes on and looks at none of them. Binds and dials loopback alone.

use std::net::SocketAddr;
use std::sync::Arc;

use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient};
use pinhole_standin::Standin;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// A front for one host.
#[derive(Debug)]
pub struct Front {
    host: String,
    addr: SocketAddr,
    ca_pem: String,
}

impl Front {
    /// Takes connections for `host` from now on, until the test's runtime ends, and hands them to `behind`.
    pub async fn start(host: &str, behind: SocketAddr) -> Self {
        let (acceptor, ca_pem) = certified(host);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            while let Ok((outside, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let mut outside = acceptor.accept(outside).await?;
                    let mut inside = TcpStream::connect(behind).await?;
                    copy_bidirectional(&mut outside, &mut inside).await
                });
            }
        });
        Self { host: host.to_owned(), addr, ca_pem }
    }

    /// A client that dials the front for its host, and nothing else.
    pub fn client(&self) -> PinnedClient {
        let dial = DialOverride::parse(&format!("{}:443:{}", self.host, self.addr)).expect("an override");
        let settings = NetSettings::default().with_override(dial);
        let settings = settings.with_ca_pem(self.ca_pem.as_bytes()).expect("a CA");
        PinnedClient::new(settings).expect("a client")
    }
}

/// Takes connections without TLS from now on, until the test's runtime ends, and hands them to a stand-in, over TLS and for
/// the name that it serves.
pub async fn without_tls(host: &str, standin: &Standin) -> SocketAddr {
    let mut roots = rustls::RootCertStore::empty();
    let ca = CertificateDer::from_pem_slice(standin.ca_pem().as_bytes()).expect("a certificate");
    roots.add(ca).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let name = ServerName::try_from(host.to_owned()).expect("a name");
    let behind = standin.addr();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let addr = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut outside, _)) = listener.accept().await {
            let (connector, name) = (connector.clone(), name.clone());
            tokio::spawn(async move {
                let inside = TcpStream::connect(behind).await?;
                let mut inside = connector.connect(name, inside).await?;
                copy_bidirectional(&mut outside, &mut inside).await
            });
        }
    });
    addr
}

/// A server's side for this name, and the authority that a client is to trust.
fn certified(host: &str) -> (TlsAcceptor, String) {
    let mut ca = CertificateParams::new(Vec::<String>::new()).expect("params");
    ca.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    let key = || KeyPair::generate().expect("a key");
    let issuer = CertifiedIssuer::self_signed(ca, key()).expect("an authority");
    let leaf_key = key();
    let leaf = CertificateParams::new(vec![host.to_owned()]).expect("params");
    let leaf = leaf.signed_by(&leaf_key, &issuer).expect("a certificate");
    let chain = vec![leaf.der().clone()];
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a server");
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    (TlsAcceptor::from(Arc::new(config)), issuer.pem())
}
