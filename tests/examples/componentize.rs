//! Makes a component of a core module that `scripts/build-guests` built: `componentize IN.wasm OUT.wasm`. Says how large
//! it is, what it imports and what its digest is.

use anyhow::Context as _;
use pinhole_manifest::Digest;

fn main() -> anyhow::Result<()> {
    let mut paths = std::env::args_os().skip(1);
    let (from, to) = paths.next().zip(paths.next()).context("name the core module and the component")?;
    let module = std::fs::read(&from).with_context(|| format!("{} cannot be read", from.display()))?;
    let mut encoder = wit_component::ComponentEncoder::default().validate(true).module(&module)?;
    let component = encoder.encode()?;
    std::fs::write(&to, &component).with_context(|| format!("{} cannot be written", to.display()))?;
    println!("{}: {} bytes, {}", to.display(), component.len(), Digest::of(&component));
    Ok(())
}
