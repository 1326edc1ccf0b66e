//! `pinhole registry serve`: what is published, over HTTP or HTTPS, until it is stopped.

use pinhole_registry::serve::{ServeError, Server, Tls};

use super::args::ServeFlags;
use super::{failure, maintain};
use crate::end::End;
use crate::{files, out, wait};

pub(super) async fn main(flags: &ServeFlags) -> anyhow::Result<End> {
    let public = maintain::opened(&flags.folder)?.public();
    let (tls, scheme) = match (&flags.tls_cert, &flags.tls_key) {
        (Some(certificate), Some(key)) => {
            let (certificate, key) = (files::read(certificate)?, files::read_private(key)?);
            let tls = Tls::from_pem(&certificate, &key).map_err(|error| {
                failure(End::Usage, &error, "pass a certificate chain and its key, both PEM")
            })?;
            (Some(tls), "https")
        }
        _ => (None, "http"),
    };
    let stop = wait::told_to_stop()?;
    let server = Server::bind(flags.listen, &public, tls).await.map_err(|error| unserved(&error))?;
    out::line(format_args!("serving {scheme}://{}/ (catalogue at /registry)", server.address()));
    if scheme == "http" {
        out::note(
            "hosts fetch from https alone: put a server with a certificate before it, or pass `--tls-cert`",
        );
    }
    server.run(stop).await;
    Ok(End::Done)
}

fn unserved(error: &ServeError) -> anyhow::Error {
    failure(End::Local, error, "say another `--listen ADDR:PORT`, or publish first")
}
