//! Makes a registry out of manifests' folders, with keys that everybody knows: for trying things out, and for tests of other
//! programs that read such a registry.
//!
//! ```text
//! cargo run -p pinhole-registry --example registry_folder -- FOLDER NOW [rotate] MANIFEST_FOLDER…
//! ```
//!
//! `NOW` is a time such as `2026-11-30T12:00:00Z`, from which the expiries are counted. The maintainer's key has the secret
//! of 32 bytes of 1, the online key that of 9; with `rotate`, the root is replaced once by one whose key is of 2.

#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::Context as _;
use pinhole_registry::RoleName;
use pinhole_registry::author::{Charter, Reseat, Seats, Terms, Workshop};
use pinhole_registry::keys::RegistryKey;

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().context("pass a folder for the registry")?;
    let now = arguments.next().context("pass the time")?;
    let now: jiff::Timestamp = now.to_str().context("the time is no text")?.parse()?;
    let (words, manifests): (Vec<PathBuf>, Vec<PathBuf>) =
        arguments.partition(|argument| argument.as_os_str() == "rotate");

    let [maintainer, next, online] = [1, 2, 9].map(|number| RegistryKey::from_seed(&[number; 32]));
    let (old, new) = (maintainer.public(), next.public());
    let charter = Charter::with_online(Seats::one(old.clone()), online.public());
    let keys = [maintainer, next, online];
    let (workshop, _) = Workshop::init(&folder, &charter, Terms::default(), &keys, now)?;
    workshop.add(&manifests, now)?;
    workshop.publish(&keys, now)?;
    if !words.is_empty() {
        workshop
            .rotate(&[Reseat::Unseat(RoleName::Root, old.id()), Reseat::Seat(RoleName::Root, new)], now)?;
        workshop.publish(&keys, now)?;
    }
    let audit = workshop.verify(now);
    anyhow::ensure!(audit.is_sound(), "{:?}", audit.faults);
    Ok(())
}
