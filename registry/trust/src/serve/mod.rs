//! A published folder over HTTP, for reading: the files of TUF, and a catalogue for people and pages.
//!
//! Refuses every method but GET and HEAD, and every name that a registry does not have; nothing but `public` is ever opened.
//! INVARIANT: what is answered is decided in `window`, which knows no socket. What is served is vouched for by its
//! signatures, never by this server.

mod catalogue;
mod content;
mod listen;
mod window;

pub use catalogue::CatalogueError;
pub use content::Content;
pub use listen::{CONNECTIONS_MAX, PATIENCE, ServeError, Server, Tls, TlsError};
pub use window::Window;

#[cfg(test)]
mod tests;
