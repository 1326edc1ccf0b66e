//! Every attack that TUF knows, by its name: what is done to a registry, how it is refused, and that this host is then as
//! it was, and goes on with the honest registry.

#[cfg(test)]
mod disk;
#[cfg(test)]
mod host;
#[cfg(test)]
mod keys;
#[cfg(test)]
#[path = "../kit/mod.rs"]
mod kit;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod order;
#[cfg(test)]
mod table;
#[cfg(test)]
mod targets;
