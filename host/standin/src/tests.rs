//! The stand-in seen from the client's side: a real `reqwest` over real TLS, on loopback.

mod certificates;
mod github;
mod misbehaviour;
mod replay;

use std::error::Error;

use reqwest::{Certificate, Client, ClientBuilder, Response};
use serde_json::Value;

use crate::{Config, GithubWorld, Standin, World};

/// The name that every client here dials.
const HOST: &str = "api.github.com";

fn builder(standin: &Standin) -> ClientBuilder {
    // Another test of this process may have been first, which is as good.
    let _installed = rustls::crypto::aws_lc_rs::default_provider().install_default().is_ok();
    Client::builder()
        .user_agent("pinhole-standin tests")
        .tls_certs_only([Certificate::from_pem(standin.ca_pem().as_bytes()).unwrap()])
        .resolve(HOST, standin.addr())
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
}

fn client(standin: &Standin) -> Client {
    builder(standin).build().unwrap()
}

fn http1(standin: &Standin) -> Client {
    builder(standin).http1_only().build().unwrap()
}

fn url(target: &str) -> String {
    format!("https://{HOST}{target}")
}

async fn get(client: &Client, target: &str) -> Response {
    client.get(url(target)).send().await.unwrap()
}

async fn json(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

fn header(response: &Response, name: &str) -> String {
    response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// The first error of this type in an error's chain, looking into I/O errors too.
fn cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error
        .downcast_ref()
        .or_else(|| inner.and_then(|inner| cause(inner)))
        .or_else(|| error.source().and_then(cause))
}

async fn github() -> Standin {
    Standin::start(Config::new(World::Github(GithubWorld::default()))).await.unwrap()
}
