//! What a command tells the maintainer, as lines for a terminal, without a line break at the end.
//!
//! Decides nothing. INVARIANT: no text of a file from outside is in it but through `visible`.

use std::fmt;

use super::audit::Audit;
use super::init::Progress;
use super::publish::Published;
use super::sheet::{Collected, Countersigned};
use super::shelve::{Staged, Staging};

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for statement in &self.statements {
            writeln!(f, "{statement}")?;
        }
        let services = if self.services == 1 { "manifest" } else { "manifests" };
        write!(f, "published, with {} {services}", self.services)?;
        self.roles
            .iter()
            .try_for_each(|(role, version, ends)| write!(f, "\n  {role} {version} holds until {ends}"))
    }
}

impl fmt::Display for Staged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.statement)?;
        write!(f, "it waits in `{}`", self.file.display())?;
        self.standing.iter().try_for_each(|standing| write!(f, "\n  {standing}"))
    }
}

impl fmt::Display for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unchanged => f.write_str("the registry holds this already: nothing is to be signed"),
            Self::Staged(staged) => staged.fmt(f),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Published(published) => published.fmt(f),
            Self::Waiting(waiting) => {
                f.write_str("these wait for signatures:")?;
                waiting.iter().try_for_each(|staged| write!(f, "\n{staged}"))
            }
        }
    }
}

impl fmt::Display for Countersigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "signed by {}", self.key)?;
        self.standing.iter().try_for_each(|standing| write!(f, "\n  {standing}"))
    }
}

impl fmt::Display for Collected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} signatures are new, {} were there", self.role, self.added.len(), self.had.len())?;
        self.standing.iter().try_for_each(|standing| write!(f, "\n  {standing}"))
    }
}

impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.faults.len() {
            0 => f.write_str("the registry is sound")?,
            1 => f.write_str("the registry has a fault")?,
            count => write!(f, "the registry has {count} faults")?,
        }
        self.faults.iter().try_for_each(|fault| write!(f, "\n  {fault}"))?;
        self.roles
            .iter()
            .try_for_each(|(role, version, ends)| write!(f, "\n{role} {version} holds until {ends}"))?;
        for (role, seats) in &self.seats {
            write!(f, "\n{role}: {} of these keys sign", seats.threshold())?;
            seats.keys().try_for_each(|key| write!(f, "\n  {}", key.id()))?;
        }
        self.services
            .iter()
            .try_for_each(|(service, version, digest)| write!(f, "\n{service} {version} {digest}"))?;
        self.pending.iter().try_for_each(|standing| write!(f, "\nstaged: {standing}"))
    }
}
