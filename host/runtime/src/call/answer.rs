//! From what came back to what may be passed on: judged by status and failure rules, projected, scrubbed.

use http::StatusCode;
use pinhole_grant::Credential;
use pinhole_manifest::Manifest;
use pinhole_manifest::model::{Body, Op, Page};
use pinhole_manifest::pick::{Condition, Pick, SingularPath};

use super::Trace;
use crate::net::{Incoming, Sent};
use crate::outcome::{Code, Picked, Refusal, UntrustedText};
use crate::project::{self, ProjectError, Tree};
use crate::scrub::Scrub;

/// What came back, as far as it has come.
#[derive(Debug)]
pub(super) struct Answer<'a, Stage> {
    manifest: &'a Manifest,
    op: &'a Op,
    scrub: Scrub,
    stage: Stage,
}

/// Bytes of a stranger's.
#[derive(Debug)]
pub(super) struct Raw {
    incoming: Incoming,
}

/// The service did what it was asked; its document, if the op reads one.
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
        credential: &Credential,
        incoming: Incoming,
    ) -> Self {
        let mut secrets = vec![credential.secret().expose()];
        secrets.extend(credential.refresh().map(pinhole_grant::Secret::expose));
        Self { manifest, op, scrub: Scrub::new(&secrets), stage: Raw { incoming } }
    }

    /// Whether the service did what it was asked: by status, by GraphQL's `errors`, by the manifest's failure rule.
    pub(super) fn judge(self) -> Result<Answer<'a, Judged>, Refusal> {
        let Incoming { status, body, .. } = &self.stage.incoming;
        if !status.is_success() {
            return Err(self.refused_by_status());
        }
        let reads_document = matches!(self.op.pick, Pick::Fields(_)) || self.is_graphql();
        let has_failure_rule = self.manifest.failure().is_some() && !body.is_empty();
        let document = if reads_document || has_failure_rule {
            let parsed = Tree::parse(body);
            Some(parsed.map_err(|error| Refusal::new(Code::NotJson).sent(Sent::Yes).detail(&error))?)
        } else {
            None
        };
        if let Some(document) = &document {
            self.check_graphql(document)?;
            self.check_failure_rule(document)?;
        }
        let more_pages = self.has_more_pages(document.as_ref());
        Ok(Answer {
            manifest: self.manifest,
            op: self.op,
            scrub: self.scrub,
            stage: Judged { document, more_pages },
        })
    }

    /// Whether the service says that this page is not the last. Page numbers alone say nothing.
    fn has_more_pages(&self, document: Option<&Tree>) -> bool {
        let at = |path: &SingularPath| document.and_then(|document| found(document, path));
        match &self.op.page {
            Some(Page::Link { .. }) => {
                let links = self.stage.incoming.headers.get_all(http::header::LINK);
                links.iter().any(|link| link.to_str().is_ok_and(|link| link.contains("rel=\"next\"")))
            }
            Some(Page::Cursor { next, .. }) => at(next).is_some_and(|cursor| *cursor != Tree::Null),
            Some(Page::Relay { info, .. }) => {
                at(info).and_then(|info| member(info, "hasNextPage")) == Some(&Tree::Bool(true))
            }
            Some(Page::Number { .. }) | None => false,
        }
    }

    fn is_graphql(&self) -> bool {
        self.op.request().is_some_and(|request| matches!(request.body, Body::Graphql { .. }))
    }

    /// A GraphQL answer with errors is a failure, whatever data comes beside them (GraphQL, section 7.1).
    fn check_graphql(&self, document: &Tree) -> Result<(), Refusal> {
        if !self.is_graphql() {
            return Ok(());
        }
        let message = match member(document, "errors") {
            None | Some(Tree::Null) => return Ok(()),
            Some(Tree::Array(errors)) if errors.is_empty() => return Ok(()),
            Some(Tree::Array(errors)) => errors.first().and_then(|error| member(error, "message")),
            Some(_) => None,
        };
        Err(self.failure(Code::UpstreamFailure, message))
    }

    fn check_failure_rule(&self, document: &Tree) -> Result<(), Refusal> {
        let Some(failure) = self.manifest.failure() else {
            return Ok(());
        };
        if !holds(document, &failure.when)? {
            return Ok(());
        }
        let message = failure.message.as_ref().and_then(|path| found(document, path));
        Err(self.failure(Code::UpstreamFailure, message))
    }

    fn refused_by_status(&self) -> Refusal {
        let Incoming { status, body, .. } = &self.stage.incoming;
        let document = self.manifest.error_message().and_then(|path| Some((path, Tree::parse(body).ok()?)));
        let message = document.as_ref().and_then(|(path, document)| found(document, path));
        let code = self.code_of_status();
        let refusal = self.failure(code, message);
        let sentence = format!("{} (HTTP {})", code.sentence(), status.as_u16());
        refusal.saying(sentence)
    }

    fn code_of_status(&self) -> Code {
        let Incoming { status, headers, .. } = &self.stage.incoming;
        // 403 with a spent budget is how some services say 429 (GitHub does).
        let spent = headers.get("x-ratelimit-remaining").is_some_and(|left| left == "0");
        let limited = spent || headers.contains_key(http::header::RETRY_AFTER);
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

fn member<'t>(tree: &'t Tree, name: &str) -> Option<&'t Tree> {
    match tree {
        Tree::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
        _ => None,
    }
}

/// Whether a condition holds; a document that says the looked-for thing twice is refused.
pub(super) fn holds(document: &Tree, condition: &Condition) -> Result<bool, Refusal> {
    project::holds(document, condition)
        .map_err(|error| Refusal::new(Code::DuplicateKey).saying(error.to_string()).sent(Sent::Yes))
}

fn found<'t>(document: &'t Tree, path: &SingularPath) -> Option<&'t Tree> {
    project::find(document, path).ok().flatten()
}

impl<'a> Answer<'a, Judged> {
    /// Picks the fields of the manifest and scrubs what is left. Nothing else of the document goes on.
    pub(super) fn project(self, trace: &mut Trace) -> Result<Answer<'a, Projected>, Refusal> {
        let refused = |code| Refusal::new(code).sent(Sent::Yes);
        let (mut value, notes) = match (&self.op.pick, self.stage.document) {
            (Pick::None, _) => (Tree::Null, Vec::new()),
            (Pick::Fields(_), None) => return Err(refused(Code::NotJson)),
            (Pick::Fields(projection), Some(document)) => {
                let projected = project::project(&document, projection).map_err(|error| match error {
                    ProjectError::RootAbsent { .. } => refused(Code::RootAbsent).saying(error.to_string()),
                    ProjectError::DuplicateKey { .. } => {
                        refused(Code::DuplicateKey).saying(error.to_string())
                    }
                })?;
                (projected.value, projected.notes.into_iter().collect())
            }
        };
        trace.meta.more_pages = self.stage.more_pages;
        self.scrub.tree(&mut value);
        trace.meta.bytes_out = u64::try_from(value.compact_len()).unwrap_or(u64::MAX);
        let stage = Projected { value, notes };
        Ok(Answer { manifest: self.manifest, op: self.op, scrub: self.scrub, stage })
    }

    /// The whole document, for a requirement's condition alone.
    pub(super) fn into_document(self) -> Option<Tree> {
        self.stage.document
    }
}

impl Answer<'_, Projected> {
    /// What the caller gets.
    pub(super) fn into_public(self) -> Picked {
        Picked { result: self.stage.value, notes: self.stage.notes }
    }
}
