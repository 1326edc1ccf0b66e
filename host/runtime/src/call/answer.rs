//! From what came back to what may be passed on: judged by status and failure rules, projected, scrubbed.

use std::sync::Arc;

use pinhole_grant::UnixTime;
use pinhole_manifest::Manifest;
use pinhole_manifest::model::{Body, Op};
use pinhole_manifest::pick::{Condition, Pick, SingularPath, SingularStep};

use super::page::{self, OnPage, Said};
use super::wire::wire_refusal;
use super::{Executor, Trace};
use crate::net::{Incoming, Sent};
use crate::outcome::{Code, Picked, Refusal, UntrustedText};
use crate::project::prune::{Plan, Pruner};
use crate::project::{self, DocumentError, DuplicateMember, ProjectError, Tree};
use crate::scrub::Scrub;

/// What came back, as far as it has come.
#[derive(Debug)]
pub(super) struct Answer<'a, Stage> {
    pub(super) manifest: &'a Manifest,
    pub(super) op: &'a Op,
    pub(super) look: Look<'a>,
    pub(super) scrub: Arc<Scrub>,
    /// When it came, by the machine's clock.
    pub(super) now: UnixTime,
    /// Whether a request left for it.
    pub(super) sent: Sent,
    pub(super) stage: Stage,
}

/// What an answer is wanted for.
#[derive(Debug)]
pub(super) enum Look<'a> {
    /// The fields that the op picks, of this page.
    Pick(Box<Asked<'a>>),
    /// Whether this holds, and nothing else.
    Condition(&'a Condition),
}

/// What was asked for.
#[derive(Debug)]
pub(super) struct Asked<'a> {
    /// Which page.
    pub(super) page: OnPage<'a>,
    /// The path and query that it was asked for with.
    pub(super) target: String,
}

/// Bytes of a stranger's.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) incoming: Incoming,
}

/// The service did what it was asked. What is looked at of its document, if anything is.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) document: Option<Tree>,
    pub(super) said: Said,
}

/// Picked and scrubbed.
#[derive(Debug)]
pub(super) struct Projected {
    value: Tree,
    notes: Vec<String>,
    said: Said,
}

/// It is known what the next page is asked for with. Only this becomes an outcome.
#[derive(Debug)]
pub(super) struct Whole {
    picked: Picked,
}

impl<'a> Answer<'a, Raw> {
    pub(super) fn received(
        (manifest, op): (&'a Manifest, &'a Op),
        look: Look<'a>,
        scrub: Arc<Scrub>,
        incoming: Incoming,
        now: UnixTime,
    ) -> Self {
        Self { manifest, op, look, scrub, now, sent: Sent::Yes, stage: Raw { incoming } }
    }

    /// Whether the service did what it was asked: by status, by GraphQL's `errors`, by the manifest's failure rule.
    pub(super) async fn judge(mut self, trace: &mut Trace) -> Result<Answer<'a, Judged>, Refusal> {
        if !self.stage.incoming.status.is_success() {
            return Err(self.refused_by_status(trace).await);
        }
        let document = if self.reads_document() { self.read(&self.plan(), trace).await? } else { None };
        match &document {
            Some(document) => {
                self.check_graphql(document)?;
                self.check_failure_rule(document)?;
            }
            None if self.needs_document() => return Err(Refusal::new(Code::NotJson).sent(Sent::Yes)),
            None => {}
        }
        let said = self.said(document.as_ref());
        Ok(self.at(|_raw| Judged { document, said }))
    }

    /// What it says of the page behind it.
    fn said(&self, document: Option<&Tree>) -> Said {
        let Look::Pick(asked) = &self.look else { return Said::Nothing };
        let headers = &self.stage.incoming.headers;
        page::say(self.op.page.as_ref(), self.manifest.host(), &asked.target, headers, document)
    }

    /// Whether there is no outcome without a document.
    fn needs_document(&self) -> bool {
        let wanted = matches!(self.look, Look::Condition(_)) || matches!(self.op.pick, Pick::Fields(_));
        wanted || self.is_graphql()
    }

    /// An answer that carries nothing is read only where a failure may stand in it.
    fn reads_document(&self) -> bool {
        self.needs_document() || self.manifest.failure().is_some()
    }

    /// Reads the body to its end as it comes, and keeps what the plan looks at; `None` if there is no body.
    pub(super) async fn read(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Option<Tree>, Refusal> {
        let no_document = |error: DocumentError| match error {
            DocumentError::KeptTooMuch => Refusal::new(Code::ResultTooLarge).sent(Sent::Yes),
            _ => Refusal::new(Code::NotJson).sent(Sent::Yes).detail(&error),
        };
        let cap = self.op.limits.response_bytes;
        let mut pruner = Pruner::new(plan);
        let mut read = 0_u64;
        while let Some(piece) =
            self.stage.incoming.body.next().await.map_err(|error| wire_refusal(&error, cap))?
        {
            let size = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            read = read.saturating_add(size);
            trace.meta.bytes_in = trace.meta.bytes_in.saturating_add(size);
            pruner.feed(&piece).map_err(no_document)?;
        }
        if read == 0 { Ok(None) } else { pruner.finish().map(Some).map_err(no_document) }
    }

    fn is_graphql(&self) -> bool {
        self.op.request().is_some_and(|request| matches!(request.body, Body::Graphql { .. }))
    }

    /// Everything that is looked at in the document of a success.
    fn plan(&self) -> Plan {
        let projection = match (&self.look, &self.op.pick) {
            (Look::Pick(_), Pick::Fields(projection)) => Some(projection),
            (Look::Pick(_), Pick::None) | (Look::Condition(_), _) => None,
        };
        let errors = graphql_errors();
        let of_page = self.op.page.as_ref().map(page::looked_at).unwrap_or_default();
        let mut singles: Vec<&[SingularStep]> = Vec::new();
        if self.is_graphql() {
            singles.push(&errors);
            singles.extend(self.manifest.error_message().map(SingularPath::steps));
        }
        if let Some(failure) = self.manifest.failure() {
            singles.push(failure.when.path.steps());
            singles.extend(failure.message.as_ref().map(SingularPath::steps));
        }
        if let Look::Condition(condition) = &self.look {
            singles.push(condition.path.steps());
        }
        singles.extend(of_page.iter().map(Vec::as_slice));
        Plan::new(projection, singles)
    }

    /// A GraphQL answer with errors is a failure, whatever data comes beside them (GraphQL, section 7.1).
    fn check_graphql(&self, document: &Tree) -> Result<(), Refusal> {
        if !self.is_graphql() {
            return Ok(());
        }
        let errors = project::find_at(document, &graphql_errors(), "$.errors");
        match errors.map_err(|error| twice(&error))? {
            None | Some(Tree::Null) => Ok(()),
            Some(Tree::Array(errors)) if errors.is_empty() => Ok(()),
            Some(_) => {
                let path = self.manifest.error_message().map(SingularPath::steps);
                Err(self.failure(Code::UpstreamFailure, path.and_then(|path| found(document, path))))
            }
        }
    }

    fn check_failure_rule(&self, document: &Tree) -> Result<(), Refusal> {
        let Some(failure) = self.manifest.failure() else {
            return Ok(());
        };
        if !holds(document, &failure.when)? {
            return Ok(());
        }
        let message = failure.message.as_ref().and_then(|path| found(document, path.steps()));
        Err(self.failure(Code::UpstreamFailure, message))
    }

    /// A refusal with the service's own words, if the manifest names them and they are a text.
    pub(super) fn failure(&self, code: Code, message: Option<&Tree>) -> Refusal {
        let untrusted = match message {
            Some(Tree::String(text)) => Some(UntrustedText::new(&self.scrub.text(text))),
            _ => None,
        };
        Refusal { untrusted, ..Refusal::new(code).sent(Sent::Yes) }
    }
}

/// Where GraphQL says that something went wrong.
fn graphql_errors() -> [SingularStep; 1] {
    [SingularStep::Name("errors".to_owned())]
}

fn twice(error: &DuplicateMember) -> Refusal {
    Refusal::new(Code::DuplicateKey).saying(error.to_string()).sent(Sent::Yes)
}

/// Whether a condition holds; a document that says the looked-for thing twice is refused.
pub(super) fn holds(document: &Tree, condition: &Condition) -> Result<bool, Refusal> {
    project::holds(document, condition).map_err(|error| twice(&error))
}

/// A text for people: one that stands twice is none.
pub(super) fn found<'t>(document: &'t Tree, steps: &[SingularStep]) -> Option<&'t Tree> {
    project::find_at(document, steps, "").ok().flatten()
}

impl<'a> Answer<'a, Judged> {
    /// Picks the fields of the manifest and scrubs what is left. Nothing else of the document goes on.
    pub(super) fn project(mut self, trace: &mut Trace) -> Result<Answer<'a, Projected>, Refusal> {
        let sent = self.sent;
        let refused = |code| Refusal::new(code).sent(sent);
        let (mut value, notes) = match (&self.op.pick, self.stage.document.take()) {
            (Pick::None, _) => (Tree::Null, Vec::new()),
            (Pick::Fields(_), None) => return Err(refused(Code::NotJson)),
            (Pick::Fields(projection), Some(document)) => {
                let projected = project::project(document, projection).map_err(|error| match error {
                    ProjectError::RootAbsent { .. } => refused(Code::RootAbsent).saying(error.to_string()),
                    ProjectError::DuplicateKey { .. } => {
                        refused(Code::DuplicateKey).saying(error.to_string())
                    }
                })?;
                trace.record.picked(&projected.value, projection);
                (projected.value, projected.notes.into_iter().collect())
            }
        };
        let size = |value: &Tree| u64::try_from(value.compact_len()).unwrap_or(u64::MAX);
        // Before the scrub, whose work grows with the size.
        let picked = size(&value);
        if picked > self.op.limits.result_bytes {
            return Err(too_large(picked, self.op.limits.result_bytes).sent(sent));
        }
        self.scrub.tree(&mut value);
        trace.meta.bytes_out = size(&value);
        Ok(self.at(|judged| Projected { value, notes, said: judged.said }))
    }

    /// The whole document, for a requirement's condition alone.
    pub(super) fn into_document(self) -> Option<Tree> {
        self.stage.document
    }
}

/// INVARIANT: an outcome is never larger than its op allows; a larger one is refused whole, and nothing is cut off.
pub(super) fn too_large(size: u64, limit: u64) -> Refusal {
    let message =
        format!("the result has {size} bytes, and the op returns at most {limit}; nothing is cut off");
    Refusal::new(Code::ResultTooLarge).saying(message).sent(Sent::Yes)
}

impl<'a> Answer<'a, Projected> {
    /// Seals what the next page is asked for with. Where that cannot be, the page at hand goes on all the same.
    pub(super) fn seal_next(self, executor: &Executor, trace: &mut Trace) -> Answer<'a, Whole> {
        let sealed = match &self.look {
            Look::Pick(asked) => asked.page.seal_next(&self.stage.said, &self.stage.value, executor),
            Look::Condition(_) => Ok(None),
        };
        let (next, unfollowed) = match sealed {
            Ok(next) => (next, None),
            Err(why) => (None, Some(why)),
        };
        trace.meta.more_pages = unfollowed.is_some();
        self.at(|projected| {
            let Projected { value: result, notes, said: _ } = projected;
            Whole { picked: Picked { result, next, notes, unfollowed, unreceipted: false } }
        })
    }
}

impl Answer<'_, Whole> {
    /// What the caller gets.
    pub(super) fn into_public(self) -> Picked {
        self.stage.picked
    }
}

impl<'a, Stage> Answer<'a, Stage> {
    /// The same one stage further.
    fn at<Next>(self, next: impl FnOnce(Stage) -> Next) -> Answer<'a, Next> {
        let Self { manifest, op, look, scrub, now, sent, stage } = self;
        Answer { manifest, op, look, scrub, now, sent, stage: next(stage) }
    }
}
