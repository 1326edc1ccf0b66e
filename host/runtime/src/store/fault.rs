//! What can be wrong with a store, and what to do about it.
//!
//! INVARIANT: where one of these is returned, nothing was changed: every change is one transaction. No secret and no sealed
//! bytes are in one. DESIGN, "CLI": exit status 6.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Which kind of row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Table {
    /// The latest time.
    Clock,
    /// Notes of runs that have begun.
    Begun,
    /// Signed ends of chains of receipts.
    Checkpoints,
    /// Sealed credentials.
    Connections,
    /// Sealed grants of bots on this host.
    Grants,
    /// Lines of token pairs.
    Lines,
    /// Writes under their callers' keys.
    Kept,
    /// Questions and their answers.
    Questions,
    /// Receipts.
    Receipts,
    /// Pairs that wait for their member.
    Returned,
    /// Revoked grants.
    Revoked,
    /// Bearer tokens, as their digests.
    Tokens,
    /// Spent uses.
    Uses,
}

impl Table {
    /// Its name in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begun => "begun",
            Self::Checkpoints => "checkpoints",
            Self::Clock => "clock",
            Self::Connections => "connections",
            Self::Grants => "grants",
            Self::Lines => "lines",
            Self::Kept => "kept",
            Self::Questions => "questions",
            Self::Receipts => "receipts",
            Self::Returned => "returned",
            Self::Revoked => "revoked",
            Self::Tokens => "tokens",
            Self::Uses => "uses",
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The store could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file is there, and no database of Pinhole's.
    #[error("`{}` is not a database of Pinhole's", .path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A later version of Pinhole has written it.
    #[error("`{}` was written by a later version (its format is {found}, the latest known here {known})", .path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version of its format.
        found: i64,
        /// The latest that this program knows.
        known: i64,
    },
    /// Its pages contradict each other, or some are missing.
    #[error("`{}` is damaged", .path.display())]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What was found first.
        #[source]
        source: Option<Cause>,
    },
    /// It or its folder cannot be written.
    #[error("`{}` cannot be written", .path.display())]
    ReadOnly {
        /// The database or its folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: Option<Cause>,
    },
    /// The disk, or the room that this user has on it, is full.
    #[error("there is no room to write `{}`", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: Option<Cause>,
    },
    /// Another process kept it locked for longer than this one waits.
    #[error("`{}` is locked by another process, for more than {} ms", .path.display(), .waited.as_millis())]
    Locked {
        /// The database.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// It was moved, replaced or removed while this process had it open: what others do is not seen here any more.
    #[error("`{}` was moved, replaced or removed while it was in use", .path.display())]
    Moved {
        /// The database.
        path: PathBuf,
    },
    /// Others than its owner can get at the file, and it could not be taken from them.
    #[error("others than its owner can get at `{}` (mode {mode:04o})", .path.display())]
    Exposed {
        /// The database, or a file that belongs to it.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// An earlier version of Pinhole has written state beside a database that had taken its state over before.
    #[error("`{}` is there again: an earlier version has run here since its state was taken over", .path.display())]
    Superseded {
        /// The folder of the earlier version.
        path: PathBuf,
    },
    /// A row is not what was put there, or what it seals is something else.
    #[error("the row `{id}` of `{table}` was tampered with")]
    Tampered {
        /// Which kind of row.
        table: Table,
        /// Its id, as the row has it.
        id: String,
    },
    /// Anything else that the system says when files are read and written.
    #[error("the store could not {doing}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        #[source]
        source: Cause,
    },
}

/// What stands behind a fault.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

impl StoreError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Foreign { .. } => {
                "if the file is not yours, move it away; if it is what is left of a database, treat it as lost: spent uses are \
                 forgotten, so end the keys of grants that still stand"
            }
            Self::Newer { .. } => "run the later version, or use another `--home`",
            Self::Corrupt { .. } => {
                "look at the disk; move the database away with its `-wal` and `-shm`: connections are made anew, and as spent \
                 uses are forgotten, end the keys of grants that still stand"
            }
            Self::ReadOnly { .. } => "look at the rights of the folder and of the files in it",
            Self::Full { .. } => "make room on the disk and try again: nothing was half-written",
            Self::Locked { .. } => {
                "try again; if it stays so, look for a process that hangs or a copy that is being made"
            }
            Self::Moved { .. } => "put it back, and start whatever runs on it again",
            Self::Exposed { .. } => "`chmod 600` the file, and give it to the user that runs Pinhole",
            Self::Superseded { .. } => {
                "let no earlier version run on this home; move the folder away if what it spent and revoked may be forgotten"
            }
            Self::Tampered { .. } => {
                "for a connection `pinhole connections remove ID`, then connect anew; for a grant `pinhole connections renew`; for a \
                 question `pinhole approvals deny ID`; for a token `pinhole tokens revoke ID`, then a new one; for a line of pairs connect \
                 anew; for a receipt `pinhole receipts verify` says what became of which"
            }
            Self::Failed { .. } => "look at the disk and at the rights of the folder",
        }
    }
}
