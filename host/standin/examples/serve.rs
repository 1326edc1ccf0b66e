//! A stand-in of GitHub's API on this machine, for trying things out: `serve CA_FILE [TOKEN]`.
//!
//! Writes its CA's certificate to `CA_FILE`, then the value for `--resolve` as one line on stdout, and for people what it
//! serves on stderr. With `TOKEN` it expects exactly that key, else any. Serves until it is stopped (Ctrl-C). Binds
//! loopback only; everything that it serves is made up.
//!
//! ```sh
//! cargo run -q -p pinhole-standin --example serve -- ca.pem
//! ```

use std::error::Error;
use std::future::pending;
use std::io::Write as _;

use pinhole_standin::{Config, GithubWorld, Standin, World};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(ca_file), token, None) = (args.next(), args.next(), args.next()) else {
        return Err("usage: serve CA_FILE [TOKEN]".into());
    };
    let world = GithubWorld::default();
    let organisation = world.organisation.clone();
    let config = Config { token: token.clone(), ..Config::new(World::Github(world)) };
    let host = config.host.clone();
    let standin = Standin::start(config).await?;
    std::fs::write(&ca_file, standin.ca_pem())?;

    let repository = GithubWorld::REPOSITORY;
    let key = if token.is_some() { "the given key alone" } else { "any key" };
    writeln!(std::io::stderr(), "{host} on {}, until Ctrl-C; it takes {key}", standin.addr())?;
    writeln!(std::io::stderr(), "organisation {organisation}, repository {organisation}/{repository}")?;
    writeln!(std::io::stderr(), "run with --resolve (the next line) and --ca-cert {ca_file}")?;
    // Last: whoever waits for this line may dial.
    writeln!(std::io::stdout(), "{host}:443:{}", standin.addr())?;
    pending::<()>().await;
    Ok(())
}
