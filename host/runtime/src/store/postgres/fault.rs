//! What can be wrong with a database on a server, and what to do about it.
//!
//! INVARIANT: no password, no value of a row and no sealed bytes are in one: of what the server says only its code and its
//! first line are kept.

use std::time::Duration;

use crate::store::Cause;

/// The database, its server, or the way to it is at fault. A `place` is its address without what is private.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// It does not answer, or not as the one that it should be.
    #[error("the database `{place}` cannot be reached")]
    Unreachable {
        /// The database.
        place: String,
        /// What was found.
        #[source]
        source: Option<Cause>,
    },
    /// It does not let this program in, or not do this.
    #[error("the database `{place}` does not let this user in, or not do this")]
    Denied {
        /// The database.
        place: String,
        /// What the server says.
        #[source]
        source: Option<Cause>,
    },
    /// There is a schema `pinhole` that is none of Pinhole's.
    #[error("the schema `pinhole` of the database `{place}` is not Pinhole's")]
    Foreign {
        /// The database.
        place: String,
    },
    /// A later version of Pinhole has written it.
    #[error(
        "the database `{place}` was written by a later version (its format is {found}, the latest known here {known})"
    )]
    Newer {
        /// The database.
        place: String,
        /// The version of its format.
        found: i64,
        /// The latest that this program knows.
        known: i64,
    },
    /// Its tables are not as they were made, or it says that its pages are broken.
    #[error("the database `{place}` is damaged")]
    Damaged {
        /// The database.
        place: String,
        /// What the server says.
        #[source]
        source: Option<Cause>,
    },
    /// It takes no changes: a standby, or one that was made so.
    #[error("the database `{place}` takes no changes")]
    ReadOnly {
        /// The database.
        place: String,
        /// What the server says.
        #[source]
        source: Option<Cause>,
    },
    /// Its server has no room.
    #[error("the server of the database `{place}` has no room")]
    Full {
        /// The database.
        place: String,
        /// What the server says.
        #[source]
        source: Option<Cause>,
    },
    /// Somebody else kept what was to be changed for longer than this waits, or all connections of this process were in use.
    #[error("the database `{place}` was busy for more than {} ms", .waited.as_millis())]
    Busy {
        /// The database.
        place: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The connection was lost as a change was being committed: whether it was made is not known.
    #[error(
        "the connection to the database `{place}` was lost while it was to {doing}: whether that is done is not known"
    )]
    Uncertain {
        /// The database.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What was found.
        #[source]
        source: Option<Cause>,
    },
    /// Anything else that the server says.
    #[error("the database `{place}` could not {doing}")]
    Failed {
        /// The database.
        place: String,
        /// What was tried.
        doing: &'static str,
        /// What the server says.
        #[source]
        source: Option<Cause>,
    },
}

impl ServerError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => {
                "look whether the server runs, at the host, the port and its certificate, then try again"
            }
            Self::Denied { .. } => {
                "look at the user, the password and `pg_hba.conf`; the user must own the database, or the schema `pinhole`"
            }
            Self::Foreign { .. } => "give Pinhole a database of its own",
            Self::Newer { .. } => "run the later version, or use another database",
            Self::Damaged { .. } => {
                "bring back a backup; as uses that were spent since are forgotten, end the keys of grants that still stand"
            }
            Self::ReadOnly { .. } => "name the primary server in the URL",
            Self::Full { .. } => "make room there and try again: nothing was half-written",
            Self::Busy { .. } => "try again; if it stays so, look in `pg_stat_activity` for who holds on",
            Self::Uncertain { .. } => {
                "look at what is there before it is tried again; a use that may be spent counts as spent"
            }
            Self::Failed { .. } => "look at the log of the database's server",
        }
    }
}
