//! MCP over HTTP from outside: real sockets, a tiny handler of the tests' own, and clients that do not behave.
//!
//! Time is the tests' own, but for how long heads may take to arrive. Each test has a server of its own.

#[cfg(test)]
mod bodies;
#[cfg(test)]
mod client;
#[cfg(test)]
mod echo;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod rates;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod tokens;
