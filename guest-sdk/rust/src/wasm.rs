//! The host as the module meets it in Wasm: the imports of `wit/pinhole-op.wit` behind [`Host`].

use pinhole::op::{clock, http, log};

use crate::{Error, Failure, Host, Level, Method, Request, Response};

wit_bindgen::generate!({
    path: "wit/pinhole-op.wit",
    world: "module",
    pub_export_macro: true,
    export_macro_name: "export_module",
    default_bindings_module: "pinhole_guest::wasm",
});

struct Imports;

impl Host for Imports {
    fn send(&self, request: &Request) -> Result<Response, Failure> {
        answer(http::send(&asked(request)))
    }

    fn send_all(&self, requests: &[Request]) -> Vec<Result<Response, Failure>> {
        let requests: Vec<_> = requests.iter().map(asked).collect();
        http::send_all(&requests).into_iter().map(answer).collect()
    }

    fn log(&self, level: Level, message: &str) {
        let level = match level {
            Level::Debug => log::Level::Debug,
            Level::Info => log::Level::Info,
            Level::Warn => log::Level::Warn,
            Level::Error => log::Level::Error,
        };
        log::write(level, message);
    }

    fn now(&self) -> i64 {
        clock::now()
    }
}

/// Runs an op. Should it panic, its last words are in the log.
pub fn run(
    run: fn(&dyn Host, &str, &str) -> Result<String, Error>,
    op: &str,
    args: &str,
) -> Result<String, OpError> {
    std::panic::set_hook(Box::new(|info| log::write(log::Level::Error, &info.to_string())));
    run(&Imports, op, args).map_err(|error| OpError { message: error.to_string() })
}

fn asked(request: &Request) -> http::Request {
    let method = match request.method() {
        Method::Get => http::Method::Get,
        Method::Head => http::Method::Head,
        Method::Post => http::Method::Post,
        Method::Put => http::Method::Put,
        Method::Patch => http::Method::Patch,
        Method::Delete => http::Method::Delete,
    };
    http::Request {
        method,
        path: request.path().to_owned(),
        query: request.query_pairs().to_vec(),
        headers: request.headers().to_vec(),
        body: request.body().map(str::to_owned),
    }
}

fn answer(answer: Result<http::Response, http::Failure>) -> Result<Response, Failure> {
    match answer {
        Ok(http::Response { status, headers, body }) => Ok(Response::from_parts(status, headers, body)),
        Err(http::Failure { code, message }) => Err(Failure { code, message }),
    }
}
