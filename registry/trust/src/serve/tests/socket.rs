//! What goes over the socket, with a certificate and without.

use std::io::{Read as _, Write as _};

use super::*;

/// Serves until the future of the asking is done.
fn served<T>(
    workshop: &Workshop,
    tls: Option<Tls>,
    ask: impl FnOnce(std::net::SocketAddr) -> T + Send + 'static,
) -> T
where
    T: Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::bind(([127, 0, 0, 1], 0).into(), &workshop.public(), tls).await.unwrap();
        let address = server.address();
        let (done, stop) = tokio::sync::oneshot::channel::<()>();
        let asking = tokio::task::spawn_blocking(move || {
            let answer = ask(address);
            drop(done);
            answer
        });
        server.run(async { drop(stop.await) }).await;
        asking.await.unwrap()
    })
}

#[test]
fn the_socket_speaks_http_and_keeps_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let said = served(&workshop, None, |address| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let ask = "HEAD /registry HTTP/1.1\r\nhost: x\r\n\r\nGET /metadata/../x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(ask.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    });
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
    assert!(
        said.contains("HTTP/1.1 404 Not Found\r\n") && said.ends_with("there is no such file\n"),
        "{said}"
    );
}

#[test]
fn with_a_certificate_the_socket_speaks_tls_and_nothing_else() {
    use tokio_rustls::rustls::crypto::aws_lc_rs;
    use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let made = rcgen::generate_simple_self_signed(["registry.test".to_owned()]).unwrap();
    let tls = Tls::from_pem(made.cert.pem().as_bytes(), made.signing_key.serialize_pem().as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(aws_lc_rs::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let ask = "GET /metadata/timestamp.json HTTP/1.1\r\nhost: registry.test\r\nconnection: close\r\n\r\n";
    let (said, plain) = served(&workshop, Some(tls), move |address| {
        let name = "registry.test".try_into().unwrap();
        let session = ClientConnection::new(config.into(), name).unwrap();
        let mut stream = StreamOwned::new(session, std::net::TcpStream::connect(address).unwrap());
        stream.write_all(ask.as_bytes()).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(ask.as_bytes()).unwrap();
        let mut plain = Vec::new();
        drop(stream.read_to_end(&mut plain));
        (said, plain)
    });
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.contains("\"timestamp\""), "{said}");
    assert!(!String::from_utf8_lossy(&plain).contains("HTTP/1.1"));
    // A key of another certificate.
    let other = rcgen::generate_simple_self_signed(["registry.test".to_owned()]).unwrap();
    let pair = Tls::from_pem(made.cert.pem().as_bytes(), other.signing_key.serialize_pem().as_bytes());
    assert!(matches!(pair, Err(TlsError::Pair(_))), "{pair:?}");
}

#[test]
fn a_request_whose_headers_have_no_end_is_let_go_of() {
    let folder = tempfile::tempdir().unwrap();
    let workshop = registry(folder.path(), b"module");
    let said = served(&workshop, None, |address| {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /registry HTTP/1.1\r\n").unwrap();
        let line = format!("x: {}\r\n", "y".repeat(1000));
        // The server may have closed before all of it is written.
        for _ in 0..40 {
            if stream.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
        let mut said = Vec::new();
        drop(stream.read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    });
    assert!(!said.contains("200 OK"), "{said}");
}

#[test]
fn what_is_no_registry_is_not_served_and_what_is_no_certificate_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bound = runtime.block_on(Server::bind(([127, 0, 0, 1], 0).into(), folder.path(), None));
    assert!(matches!(bound, Err(ServeError::NotPublished(_))));
    assert!(matches!(Tls::from_pem(b"", b""), Err(TlsError::NoCertificate)));
    let certificate = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(matches!(Tls::from_pem(certificate, b""), Err(TlsError::NoKey)));
}
