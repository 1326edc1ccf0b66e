//! The `pinhole` command as its users meet it: the binary itself, each test in a home of its own with an empty
//! environment, against stand-ins on loopback. DESIGN, "CLI".

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod args;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod backup;
#[cfg(test)]
mod broker;
#[cfg(test)]
mod connect;
#[cfg(test)]
mod connect_page;
#[cfg(test)]
mod connections;
#[cfg(test)]
mod database;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod described;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod environment;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod grants;
#[cfg(test)]
mod home;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod local;
#[cfg(test)]
mod manifest_check;
#[cfg(test)]
mod manifest_diff;
#[cfg(test)]
mod manifest_test;
#[cfg(test)]
mod mcp_install;
#[cfg(test)]
mod mcp_python;
#[cfg(test)]
mod module;
#[cfg(test)]
mod module_files;
#[cfg(test)]
mod modules;
#[cfg(test)]
mod once;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod plain;
#[cfg(test)]
#[path = "../../../../tests/src/postgres.rs"]
#[expect(unreachable_pub, dead_code, reason = "the harness of all tests: these use a part of it")]
mod postgres;
#[cfg(test)]
mod receipts;
#[cfg(test)]
mod registry;
#[cfg(test)]
mod research;
#[cfg(test)]
mod rotate;
#[cfg(test)]
mod run;
#[cfg(test)]
mod settings;
#[cfg(test)]
#[cfg(unix)]
mod sidecar;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod store;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod tampered;
#[cfg(test)]
mod token;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod unproved;
#[cfg(test)]
mod vectors;
