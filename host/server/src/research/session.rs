//! A session over several grants: its palette, and what is left of its time, calls and bytes.
//!
//! INVARIANT: no op is called but a read that one of the grants covers, and none after the end, beyond the count, or on
//! another connection than its grant's. What a service wrote stands between marks. A door keeps sessions by names that
//! nobody can guess; this keeps none.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pinhole_grant::{Label, TextError, UnixTime};
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::outcome::{Code, Outcome, Refusal, Verdict};
use pinhole_runtime::{Executor, Palette};
use rmcp::model::Tool;

use crate::Reach;
use crate::mcp::tools::{Connected, Offer, OpPattern, Toolbox, ToolsMode};

/// Most grants of one session.
const GRANTS_MAX: usize = 16;
/// Most ops of one palette: what models' endpoints take.
const OPS_MAX: usize = 128;

/// What a session may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionLimits {
    /// How long it lives, in seconds.
    pub seconds: i64,
    /// How many calls it has.
    pub calls: u32,
    /// How many bytes of results it passes on, marks and all.
    pub bytes: u64,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { seconds: 600, calls: 60, bytes: 1 << 20 }
    }
}

impl SessionLimits {
    /// The most that any may be.
    pub const MOST: Self = Self { seconds: 600, calls: 1_000, bytes: 16 << 20 };
}

/// Opens sessions.
#[derive(Debug, Clone, Default)]
pub struct Research {
    limits: SessionLimits,
    reach: Reach,
}

/// Why there is no session. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum NotOpened {
    /// There is no grant, or there are too many.
    #[error("a session takes 1 to {GRANTS_MAX} grants")]
    Grants,
    /// A grant does not open, or covers no read.
    #[error("grant {number}: {}", .refusal.message)]
    Grant {
        /// Which, from 1.
        number: usize,
        /// Why.
        refusal: Box<Refusal>,
    },
    /// The grants cover more ops than a model can be offered.
    #[error(
        "the grants cover {0} reads, and a model is offered at most {OPS_MAX}: give grants that name their ops"
    )]
    TooMuch(usize),
    /// A name of a connection is none.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// A session that is open.
#[derive(Debug)]
pub struct Session {
    pub(super) grants: Vec<Granted>,
    pub(super) connected: Vec<Connected>,
    pub(super) reach: Reach,
    pub(super) offer: Offer,
    pub(super) until: UnixTime,
    pub(super) calls_left: AtomicU32,
    pub(super) bytes_left: AtomicU64,
}

/// A grant, and the connection that it is of. Sealed, and shown to nobody.
pub(super) struct Granted {
    pub(super) service: ServiceId,
    pub(super) label: Label,
    pub(super) sealed: Vec<u8>,
}

impl std::fmt::Debug for Granted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Granted").field("service", &self.service).finish_non_exhaustive()
    }
}

impl Research {
    /// Sessions of these limits, each at most [`SessionLimits::MOST`].
    pub fn within(limits: SessionLimits) -> Self {
        let most = SessionLimits::MOST;
        let seconds = limits.seconds.clamp(1, most.seconds);
        let (calls, bytes) = (limits.calls.min(most.calls), limits.bytes.min(most.bytes));
        Self { limits: SessionLimits { seconds, calls, bytes }, ..Self::default() }
    }

    /// The same for somebody who reaches no further than this, whatever the grants cover.
    #[must_use]
    pub fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// Opens a session at this time. Each grant has to open, and to cover a read that is within reach.
    pub async fn open(
        &self,
        grants: Vec<Vec<u8>>,
        executor: &Executor,
        now: UnixTime,
    ) -> Result<Session, NotOpened> {
        if !(1..=GRANTS_MAX).contains(&grants.len()) {
            return Err(NotOpened::Grants);
        }
        let (mut kept, mut connected, mut patterns) = (Vec::new(), Vec::<Connected>::new(), BTreeMap::new());
        for (at, sealed) in grants.into_iter().enumerate() {
            let palette = executor.palette(&sealed).await.and_then(|palette| self.within_reach(palette));
            let palette = palette.map_err(|refusal| NotOpened::Grant {
                number: at.saturating_add(1),
                refusal: Box::new(refusal),
            })?;
            let label = free_label(&connected, &palette.service, &palette.label)?;
            for op in palette.ops {
                let name = format!("{}.{op}", palette.service);
                if let Ok(pattern) = name.parse::<OpPattern>() {
                    patterns.insert(name, pattern);
                }
            }
            let service = palette.service;
            connected.push(Connected {
                service: service.clone(),
                label: label.clone(),
                account: palette.account,
                cap: Access::Read,
            });
            kept.push(Granted { service, label, sealed });
        }
        if patterns.len() > OPS_MAX {
            return Err(NotOpened::TooMuch(patterns.len()));
        }
        let offer = Offer::default().read_only().in_mode(ToolsMode::Each).of_ops(patterns.into_values());
        Ok(Session {
            grants: kept,
            connected,
            reach: self.reach.clone(),
            offer,
            until: now.plus_secs(self.limits.seconds),
            calls_left: AtomicU32::new(self.limits.calls),
            bytes_left: AtomicU64::new(self.limits.bytes),
        })
    }

    /// A service that is out of reach is as one that is not there.
    fn within_reach(&self, palette: Palette) -> Result<Palette, Refusal> {
        let Some(op) = palette.ops.first().filter(|_op| !self.reach.covers(&palette.service, Access::Read))
        else {
            return Ok(palette);
        };
        let away =
            Outcome::turned_away(palette.service.clone(), op.clone(), Code::UnknownService, None).verdict;
        match away {
            Verdict::Refused(refusal) => Err(refusal),
            Verdict::Done(_) => Ok(palette),
        }
    }
}

/// What a connection is called here: as its member calls it, with a number where another of the service is called so.
fn free_label(taken: &[Connected], service: &ServiceId, label: &Label) -> Result<Label, TextError> {
    let is_taken =
        |label: &Label| taken.iter().any(|other| other.service == *service && other.label == *label);
    let mut free = label.clone();
    let mut number = 2;
    while is_taken(&free) {
        let short: String = label.as_str().chars().take(60).collect();
        free = Label::parse(&format!("{} {number}", short.trim_end()))?;
        number += 1;
    }
    Ok(free)
}

impl Session {
    /// One that reads nothing and is over then.
    #[cfg(test)]
    pub(crate) fn of_nothing(until: UnixTime) -> Self {
        Self {
            grants: Vec::new(),
            connected: Vec::new(),
            reach: Reach::default(),
            offer: Offer::default(),
            until,
            calls_left: AtomicU32::new(0),
            bytes_left: AtomicU64::new(0),
        }
    }

    /// Which connections it reads.
    pub fn connections(&self) -> &[Connected] {
        &self.connected
    }

    /// Until when it lives.
    pub fn until(&self) -> UnixTime {
        self.until
    }

    /// How many calls are left.
    pub fn calls_left(&self) -> u32 {
        self.calls_left.load(Ordering::Relaxed)
    }

    /// How many bytes of results are left.
    pub fn bytes_left(&self) -> u64 {
        self.bytes_left.load(Ordering::Relaxed)
    }

    /// The palette: a tool for each op, and no other.
    pub fn tools(&self, catalog: &Catalog) -> Vec<Tool> {
        Toolbox::new(catalog, &self.connected, &self.reach, &self.offer).op_tools()
    }
}
