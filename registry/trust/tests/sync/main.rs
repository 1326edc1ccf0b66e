//! What a sync does to each service: what applies by itself, what waits, what another source owns, what is of no use.

#[cfg(test)]
mod host;
#[cfg(test)]
#[path = "../kit/mod.rs"]
mod kit;
#[cfg(test)]
mod services;
#[cfg(test)]
mod sources;
