//! A running stand-in: it listens on a port of 127.0.0.1 that the system chose, until it is dropped.
//!
//! INVARIANT: the address that is bound is written here and nowhere else, and it is loopback.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::authority::AuthorityError;
use crate::connection::{Tasks, serve};
use crate::github::Github;
use crate::handshake::server_config;
use crate::log::{Log, Seen};
use crate::misbehaviour::Rules;
use crate::service::{Scene, Stage};
use crate::{Authority, Config, Misbehaviour, When, World};

/// Why a stand-in did not start.
#[derive(Debug, thiserror::Error)]
pub enum StandinError {
    /// No port could be bound.
    #[error("no port of 127.0.0.1 could be bound")]
    Bind(#[source] io::Error),
    /// No certificate could be made: the host is no DNS name, or the machine has no randomness.
    #[error("no certificate could be made for `{host}`")]
    Certificate {
        /// The host that was asked for.
        host: String,
        /// What the certificate library says.
        #[source]
        source: AuthorityError,
    },
    /// The TLS library refuses the certificate or the versions.
    #[error("TLS could not be set up")]
    Tls(#[from] rustls::Error),
}

/// A stand-in that runs. Dropping it ends every connection and closes the port.
pub struct Standin {
    addr: SocketAddr,
    ca: Authority,
    stage: Arc<Stage>,
    tasks: Tasks,
}

impl fmt::Debug for Standin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Standin").field("addr", &self.addr).finish_non_exhaustive()
    }
}

impl Standin {
    /// Starts a stand-in on the current Tokio runtime.
    ///
    /// # Errors
    /// See [`StandinError`]. Nothing listens then.
    pub async fn start(config: Config) -> Result<Self, StandinError> {
        let certificate = |source| StandinError::Certificate { host: config.host.clone(), source };
        let ca = match config.authority {
            Some(authority) => authority,
            None => Authority::new().map_err(certificate)?,
        };
        let leaf = ca.leaf(&config.host, config.certificate).map_err(certificate)?;
        let tls = server_config(leaf, config.protocol, config.alpn)?;
        let scene = match config.world {
            World::Github(world) => Scene::Github(Box::new(Github::new(&world, &config.host))),
            World::Shelf(shelf) => Scene::Shelf(shelf, config.host.clone()),
            World::Replay(recordings) => Scene::Routes(recordings.into_routes()),
            World::Fixed(routes) => Scene::Routes(routes),
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(StandinError::Bind)?;
        let addr = listener.local_addr().map_err(StandinError::Bind)?;
        let stage = Arc::new(Stage {
            tls,
            protocol: config.protocol,
            token: config.token,
            provider: config.provider,
            scene,
            rules: Rules::default(),
            log: Log::default(),
        });
        let tasks = Tasks::default();
        tasks.run(accept(listener, Arc::clone(&stage), tasks.clone()));
        Ok(Self { addr, ca, stage, tasks })
    }

    /// Where it listens: 127.0.0.1 and a port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The certificate, in PEM, of the authority that a client is to trust.
    pub fn ca_pem(&self) -> &str {
        self.ca.pem()
    }

    /// What has been asked, oldest first: the last 4,096 requests.
    pub fn requests(&self) -> Vec<Seen> {
        self.stage.log.requests()
    }

    /// Adds a rule: from now on it misbehaves like this when the rule says so.
    pub fn misbehave(&self, when: When, how: Misbehaviour) {
        self.stage.rules.add(when, how);
    }

    /// Forgets every rule: from now on it behaves. What is under way goes on.
    pub fn behave(&self) {
        self.stage.rules.clear();
    }

    /// How many TCP connections were accepted, whatever came of them.
    pub fn connections(&self) -> usize {
        self.stage.log.connections()
    }
}

impl Drop for Standin {
    fn drop(&mut self) {
        self.tasks.stop();
    }
}

async fn accept(listener: TcpListener, stage: Arc<Stage>, tasks: Tasks) {
    loop {
        match listener.accept().await {
            Ok((tcp, _)) => {
                let number = stage.log.connected();
                let connection = serve(tcp, Arc::clone(&stage), number, tasks.clone());
                tasks.run(async move {
                    // A connection that fails has failed at the client's side too, which is where it is looked at.
                    let _ended = connection.await.is_ok();
                });
            }
            // Out of file descriptors, most likely: a pause lets connections end.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
