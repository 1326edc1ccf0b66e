//! From what came back to what may be passed on: judged by status and failure rules, projected, scrubbed.

use http::StatusCode;
use pinhole_grant::Credential;
use pinhole_manifest::Manifest;
use pinhole_manifest::model::{Body, Op, Page};
use pinhole_manifest::pick::{Condition, Pick, SingularPath, SingularStep};

use super::Trace;
use super::wire::wire_refusal;
use crate::net::{Incoming, Sent};
use crate::outcome::{Code, Picked, Refusal, UntrustedText};
use crate::project::prune::{Plan, Pruner};
use crate::project::{self, DocumentError, DuplicateMember, ProjectError, Tree};
use crate::scrub::Scrub;

/// What came back, as far as it has come.
#[derive(Debug)]
pub(super) struct Answer<'a, Stage> {
    manifest: &'a Manifest,
    op: &'a Op,
    look: Look<'a>,
    scrub: Scrub,
    stage: Stage,
}

/// What an answer is wanted for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Look<'a> {
    /// The fields that the op picks.
    Pick,
    /// Whether this holds, and nothing else.
    Condition(&'a Condition),
}

/// Bytes of a stranger's.
#[derive(Debug)]
pub(super) struct Raw {
    incoming: Incoming,
}

/// The service did what it was asked. What is looked at of its document, if anything is.
#[derive(Debug)]
pub(super) struct Judged {
    document: Option<Tree>,
    more_pages: bool,
}

/// Picked and scrubbed. Only this becomes an outcome.
#[derive(Debug)]
pub(super) struct Projected {
    value: Tree,
    notes: Vec<String>,
}

impl<'a> Answer<'a, Raw> {
    pub(super) fn received(
        manifest: &'a Manifest,
        op: &'a Op,
        look: Look<'a>,
        credential: &Credential,
        incoming: Incoming,
    ) -> Self {
        let mut secrets = vec![credential.secret().expose()];
        secrets.extend(credential.refresh().map(pinhole_grant::Secret::expose));
        Self { manifest, op, look, scrub: Scrub::new(&secrets), stage: Raw { incoming } }
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
        let more_pages = self.has_more_pages(document.as_ref());
        let stage = Judged { document, more_pages };
        Ok(Answer { manifest: self.manifest, op: self.op, look: self.look, scrub: self.scrub, stage })
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
    async fn read(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Option<Tree>, Refusal> {
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
        let projection = match (self.look, &self.op.pick) {
            (Look::Pick, Pick::Fields(projection)) => Some(projection),
            (Look::Pick, Pick::None) | (Look::Condition(_), _) => None,
        };
        let errors = graphql_errors();
        let info = self.relay_info();
        let mut singles: Vec<&[SingularStep]> = Vec::new();
        if self.is_graphql() {
            singles.push(&errors);
            singles.extend(self.manifest.error_message().map(SingularPath::steps));
        }
        if let Some(failure) = self.manifest.failure() {
            singles.push(failure.when.path.steps());
            singles.extend(failure.message.as_ref().map(SingularPath::steps));
        }
        if let Look::Condition(condition) = self.look {
            singles.push(condition.path.steps());
        }
        if let Some(Page::Cursor { next, .. }) = &self.op.page {
            singles.push(next.steps());
        }
        singles.extend(info.as_deref());
        Plan::new(projection, singles)
    }

    /// Where a Relay connection says whether it goes on.
    fn relay_info(&self) -> Option<Vec<SingularStep>> {
        let Some(Page::Relay { info, .. }) = &self.op.page else {
            return None;
        };
        let mut steps = info.steps().to_vec();
        steps.push(SingularStep::Name("hasNextPage".to_owned()));
        Some(steps)
    }

    /// Whether the service says that this page is not the last. Page numbers alone say nothing.
    fn has_more_pages(&self, document: Option<&Tree>) -> bool {
        let at = |steps: &[SingularStep]| document.and_then(|document| found(document, steps));
        match &self.op.page {
            Some(Page::Link { .. }) => {
                let links = self.stage.incoming.headers.get_all(http::header::LINK);
                links.iter().any(|link| link.to_str().is_ok_and(|link| link.contains("rel=\"next\"")))
            }
            Some(Page::Cursor { next, .. }) => at(next.steps()).is_some_and(|cursor| *cursor != Tree::Null),
            Some(Page::Relay { .. }) => {
                self.relay_info().and_then(|steps| at(&steps).cloned()) == Some(Tree::Bool(true))
            }
            Some(Page::Number { .. }) | None => false,
        }
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

    async fn refused_by_status(&mut self, trace: &mut Trace) -> Refusal {
        let path = self.manifest.error_message().map(SingularPath::steps);
        // An error page that does not come whole, or is not JSON, has no text that is passed on.
        let document = match path {
            Some(path) => self.read(&Plan::new(None, [path]), trace).await.ok().flatten(),
            None => None,
        };
        let message = path.zip(document.as_ref()).and_then(|(path, document)| found(document, path));
        let code = self.code_of_status(message);
        let sentence = format!("{} (HTTP {})", code.sentence(), self.stage.incoming.status.as_u16());
        self.failure(code, message).saying(sentence)
    }

    fn code_of_status(&self, message: Option<&Tree>) -> Code {
        let Incoming { status, headers, .. } = &self.stage.incoming;
        // 403 with a spent budget is how some services say 429. GitHub does, and of its secondary limits it may say so in
        // the text alone, which is all that its documentation promises.
        let spent = headers.get("x-ratelimit-remaining").is_some_and(|left| left == "0");
        let said = matches!(message, Some(Tree::String(text)) if text.contains("secondary rate limit"));
        let limited = spent || said || headers.contains_key(http::header::RETRY_AFTER);
        match *status {
            StatusCode::TOO_MANY_REQUESTS => Code::UpstreamRateLimited,
            StatusCode::FORBIDDEN if limited => Code::UpstreamRateLimited,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Code::UpstreamInvalid,
            StatusCode::UNAUTHORIZED => Code::UpstreamUnauthorized,
            StatusCode::FORBIDDEN => Code::UpstreamForbidden,
            StatusCode::NOT_FOUND | StatusCode::GONE => Code::UpstreamNotFound,
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Code::UpstreamConflict,
            _ => Code::UpstreamError,
        }
    }

    /// A refusal with the service's own words, if the manifest names them and they are a text.
    fn failure(&self, code: Code, message: Option<&Tree>) -> Refusal {
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
fn found<'t>(document: &'t Tree, steps: &[SingularStep]) -> Option<&'t Tree> {
    project::find_at(document, steps, "").ok().flatten()
}

impl<'a> Answer<'a, Judged> {
    /// Picks the fields of the manifest and scrubs what is left. Nothing else of the document goes on.
    pub(super) fn project(self, trace: &mut Trace) -> Result<Answer<'a, Projected>, Refusal> {
        let refused = |code| Refusal::new(code).sent(Sent::Yes);
        let (mut value, notes) = match (&self.op.pick, self.stage.document) {
            (Pick::None, _) => (Tree::Null, Vec::new()),
            (Pick::Fields(_), None) => return Err(refused(Code::NotJson)),
            (Pick::Fields(projection), Some(document)) => {
                let projected = project::project(document, projection).map_err(|error| match error {
                    ProjectError::RootAbsent { .. } => refused(Code::RootAbsent).saying(error.to_string()),
                    ProjectError::DuplicateKey { .. } => {
                        refused(Code::DuplicateKey).saying(error.to_string())
                    }
                })?;
                (projected.value, projected.notes.into_iter().collect())
            }
        };
        trace.meta.more_pages = self.stage.more_pages;
        let size = |value: &Tree| u64::try_from(value.compact_len()).unwrap_or(u64::MAX);
        // Before the scrub, whose work grows with the size.
        let picked = size(&value);
        if picked > self.op.limits.result_bytes {
            return Err(too_large(picked, self.op.limits.result_bytes));
        }
        self.scrub.tree(&mut value);
        trace.meta.bytes_out = size(&value);
        let stage = Projected { value, notes };
        Ok(Answer { manifest: self.manifest, op: self.op, look: self.look, scrub: self.scrub, stage })
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

impl Answer<'_, Projected> {
    /// What the caller gets.
    pub(super) fn into_public(self) -> Picked {
        Picked { result: self.stage.value, notes: self.stage.notes }
    }
}
