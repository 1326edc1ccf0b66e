//! `pinhole doctor`: whether everything on this machine is as it should be, and what to do where it is not.
//!
//! Looks at one thing after another, whatever it finds. INVARIANT: it changes nothing (the store is only looked at, and
//! what is not there is not made) but by asking a service about a key, which is a run like any other: it leaves a receipt, and a
//! token that is due is renewed. No secret is in what it says.

mod clock;
mod connections;
mod database;
mod finding;
mod home;
mod keys;
mod modes;
mod modules;
mod receipts;
mod registries;
mod returned;

use pinhole_runtime::sandbox::Sandbox;

use crate::args::DoctorFlags;
use crate::config::Config;
use crate::end::End;
use crate::{dial, files};

use finding::Findings;

pub(crate) async fn main(flags: &DoctorFlags, config: &Config) -> anyhow::Result<End> {
    let dash = |path: &std::path::PathBuf| path.as_os_str() == "-";
    files::one_reader_of_stdin(&[
        ("--manifest -", flags.local.manifest.iter().any(dash)),
        ("--ca-cert -", flags.dial.ca_cert.as_ref().is_some_and(dash)),
    ])?;
    let mut findings = Findings::default();
    let catalog = registries::look(&flags.local, config, &mut findings)?;
    let client = dial::client_of_stored(&flags.dial, &catalog, config)?;

    home::look(config, &mut findings);
    let sandbox = Sandbox::new(modules::look(config, &mut findings));
    let keys = keys::look(config, &mut findings);
    let database = database::look(&keys.home, &flags.database, &mut findings);
    clock::look(&database, &mut findings);
    let asks = if flags.offline { connections::Asks::Nobody } else { connections::Asks::Services };
    receipts::look(&keys, &database, &mut findings);
    returned::look(&keys, &database, &mut findings);
    connections::look(keys, &database, connections::World { catalog, client, sandbox, asks }, &mut findings)
        .await;

    findings.print(flags.json)?;
    Ok(if findings.any_wrong() { End::Failed } else { End::Done })
}
