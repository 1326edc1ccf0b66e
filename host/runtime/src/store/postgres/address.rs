//! Where the database is: a URL with its password, which is given to the server and to nobody else.
//!
//! Refuses a way to another machine that is not encrypted, and whatever is no URL of this kind: nothing of a text that was
//! not understood is repeated. INVARIANT: what is shown of an address has no user, password or option in it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use pinhole_manifest::visible::visible;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::{Config, Host, SslMode, TargetSessionAttrs};

/// How long one address of the server is tried.
const CONNECT: Duration = Duration::from_secs(10);
/// How long what was sent may stay unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED: Duration = Duration::from_secs(15);
/// A connection at rest is asked for after so long, so often, until it counts as lost.
const KEPT_ALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);

/// A PostgreSQL database, and how its server proves who it is.
#[derive(Clone)]
pub struct PostgresAddress {
    config: Config,
    shown: String,
    tls: Arc<ClientConfig>,
}

/// Why a text is no address of a database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It is no such URL, or it says something that means nothing here.
    #[error("this is not the URL of a PostgreSQL database")]
    NotOne,
    /// It does not say which server.
    #[error("the URL of the database names no server")]
    NoServer,
    /// It does not say as whom.
    #[error("the URL of the database names no user")]
    NoUser,
    /// It asks for a connection to another machine that others can read.
    #[error("`{shown}` is on another machine, and its URL says that the way there is not to be encrypted")]
    NotEncrypted {
        /// The address, without what is private.
        shown: String,
    },
    /// What should be certificates is none.
    #[error("there is no certificate in what was given as the CA of the database's server")]
    NoCertificate,
    /// TLS cannot be set up.
    #[error("TLS to the database cannot be set up")]
    Tls,
}

impl AddressError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotOne => {
                "write `postgres://USER:PASSWORD@HOST/DATABASE`, or `postgres://USER@/DATABASE?host=/FOLDER` for a socket; \
                 percent-encode what is special; of `sslmode` say `require` or nothing: certificates are always verified"
            }
            Self::NoServer => "write the host after `@`, or `?host=/FOLDER` for a socket",
            Self::NoUser => "write the user before `@`",
            Self::NotEncrypted { .. } => {
                "take `sslmode=disable` out: what is sent there includes the password"
            }
            Self::NoCertificate => "give a PEM file with the certificate of the CA in it",
            Self::Tls => "look at the certificate of the CA",
        }
    }
}

impl PostgresAddress {
    /// Parses `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or `postgresql://`. To a server that is neither a Unix socket
    /// nor a loopback address TLS is demanded, and its certificate is verified against the public CAs.
    pub fn parse(url: &str) -> Result<Self, AddressError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(AddressError::NotOne);
        }
        let mut config: Config = url.parse().map_err(|_may_repeat_the_password| AddressError::NotOne)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(AddressError::NoServer);
        }
        if config.get_user().is_none_or(str::is_empty) {
            return Err(AddressError::NoUser);
        }
        let shown = shown(&config);
        match (is_here(&config), config.get_ssl_mode()) {
            (false, SslMode::Disable) => return Err(AddressError::NotEncrypted { shown }),
            (false, _) => drop(config.ssl_mode(SslMode::Require)),
            // Whoever wants TLS there too says so: a usual installation has a certificate that nobody can verify.
            (true, SslMode::Prefer) => drop(config.ssl_mode(SslMode::Disable)),
            (true, _) => {}
        }
        let (idle, interval, retries) = KEPT_ALIVE;
        config.application_name("pinhole").connect_timeout(CONNECT).tcp_user_timeout(UNACKNOWLEDGED);
        config.keepalives_idle(idle).keepalives_interval(interval).keepalives_retries(retries);
        // A standby may not know yet what was spent and revoked.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let roots = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
        Ok(Self { config, shown, tls: tls(roots)? })
    }

    /// The same, where the server's certificate must be of one of these CAs: PEM, and no public CA counts.
    pub fn trusting(self, pem: &[u8]) -> Result<Self, AddressError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|_error| AddressError::NoCertificate)?;
            roots.add(certificate).map_err(|_error| AddressError::NoCertificate)?;
        }
        if roots.is_empty() {
            return Err(AddressError::NoCertificate);
        }
        Ok(Self { tls: tls(roots)?, ..self })
    }

    /// Whether the URL has a password in it.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// The same as PostgreSQL's own programs take it: without the password, which they have from elsewhere.
    pub fn for_tools(&self) -> String {
        let config = &self.config;
        let escaped = |text: &str| {
            percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
        };
        let user = config.get_user().unwrap_or_default();
        let database = config.get_dbname().unwrap_or(user);
        let host: Vec<String> = config
            .get_hosts()
            .iter()
            .map(|host| match host {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            })
            .chain(config.get_hostaddrs().iter().map(ToString::to_string))
            .take(1)
            .collect();
        let port = config.get_ports().first().copied().unwrap_or(5432);
        format!(
            "postgres://{}@/{}?host={}&port={port}",
            escaped(user),
            escaped(database),
            escaped(&host.concat())
        )
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn tls(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.tls)
    }
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({})", self.shown)
    }
}

/// Whether no other machine sees what is sent. What is dialled counts, whatever it is called.
fn is_here(config: &Config) -> bool {
    let addrs = config.get_hostaddrs();
    if !addrs.is_empty() {
        return addrs.iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            name.eq_ignore_ascii_case("localhost")
                || name.parse().is_ok_and(|addr: IpAddr| addr.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn shown(config: &Config) -> String {
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| match host {
        Host::Tcp(name) => {
            let ports = config.get_ports();
            match ports.get(at).or(ports.first()) {
                Some(port) => format!("{name}:{port}"),
                None => name.clone(),
            }
        }
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    });
    let addrs = config.get_hostaddrs().iter().map(ToString::to_string);
    let places: Vec<String> = hosts.chain(addrs).collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    visible(&format!("postgres://{}/{database}", places.join(",")))
}

fn tls(roots: RootCertStore) -> Result<Arc<ClientConfig>, AddressError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(|_error| AddressError::Tls)?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
