//! Which page a call asks for, and what the next one is asked for with.
//!
//! A token says where a page is; it permits nothing: the grant, its scope and its `where` have been checked like those of
//! any call before it is opened. INVARIANT: what a token says was sealed by this bot's host for this very call, out of an
//! answer to it. DESIGN, "Manifest": `page`.

mod link;
mod said;
mod seal;

use pinhole_grant::{GrantId, OpenPageError};
use pinhole_manifest::ArgName;
use pinhole_manifest::Digest;
use pinhole_manifest::model::Page;
use serde::{Deserialize, Serialize};

pub(super) use said::{Said, looked_at, say};

use super::authorize::Authorized;
use super::{Call, Executor};
use crate::outcome::{Code, Refusal};
use crate::render::{Change, Narrowed};

/// Where a further page is, in the style of its op.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Place {
    /// The path and query that a link named.
    Link(String),
    /// The value of the query parameter.
    Cursor(String),
    /// The number of the page.
    Page(u64),
    /// The value of the GraphQL variable.
    Relay(String),
}

/// What a token holds of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bookmark {
    /// Where it is.
    at: Place,
    /// Which page it is, from 2.
    number: u32,
    /// The request of an earlier page: meeting it again is a loop.
    mark: Digest,
    /// The result of the page before, for a style in which a service has no other way to say that it goes round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Digest>,
}

/// It is known which page is asked for.
#[derive(Debug)]
pub(super) struct OnPage<'a> {
    pub(super) authorized: Authorized<'a>,
    further: Option<Further>,
}

/// A page that is not the first.
#[derive(Debug)]
struct Further {
    bookmark: Bookmark,
    paid_by: GrantId,
}

impl<'a> Call<Authorized<'a>> {
    /// Opens the token of a further page, if the call has one, and holds it against what was authorised.
    pub(super) fn open_page(self, executor: &Executor) -> Result<Call<OnPage<'a>>, Refusal> {
        let authorized = self.stage;
        let agreed = &authorized.agreed;
        let further = match &agreed.request.next {
            None => None,
            Some(token) => {
                let opened = pinhole_grant::open_page(token, agreed.bot(executor), agreed.now);
                let checked = opened.and_then(|page| {
                    page.check(agreed.grant().issuer(), authorized.action, agreed.request.principal)
                });
                let (paid_by, place) = checked.map_err(refusal)?;
                // Sealed here for this very call: only another version of this program writes another form.
                let bookmark: Bookmark =
                    serde_json::from_str(&place).map_err(|_other| Refusal::new(Code::PageTokenMalformed))?;
                if !bookmark.at.is_of(agreed.op.page.as_ref()) {
                    return Err(Refusal::new(Code::PageTokenMismatch));
                }
                Some(Further { bookmark, paid_by })
            }
        };
        Ok(Call { stage: OnPage { authorized, further } })
    }
}

fn refusal(error: OpenPageError) -> Refusal {
    Refusal::new(match error {
        OpenPageError::TooLong
        | OpenPageError::NotAToken
        | OpenPageError::Version
        | OpenPageError::CannotOpen => Code::PageTokenMalformed,
        OpenPageError::Expired => Code::PageTokenExpired,
        OpenPageError::OtherCall => Code::PageTokenMismatch,
    })
}

impl OnPage<'_> {
    /// Whether the run that this page belongs to was paid with this call's grant: one run with all its pages is one use.
    pub(super) fn is_paid(&self) -> bool {
        self.further.as_ref().is_some_and(|further| further.paid_by == self.authorized.agreed.grant().id())
    }

    /// In what the request of this page differs from that of the first.
    pub(super) fn change<'s>(&'s self, narrowed: Narrowed<'s>) -> Change<'s> {
        let page = self.authorized.agreed.op.page.as_ref();
        self.further.as_ref().map_or(Change::Nothing, |further| further.bookmark.at.change(page, narrowed))
    }

    /// Whether the grant narrows an arg.
    pub(super) fn narrows(&self, arg: &ArgName) -> bool {
        self.authorized.agreed.grant().scope().wheres.narrows(arg)
    }
}

impl Place {
    fn is_of(&self, page: Option<&Page>) -> bool {
        matches!(
            (self, page),
            (Self::Link(_), Some(Page::Link { .. }))
                | (Self::Cursor(_), Some(Page::Cursor { .. }))
                | (Self::Page(_), Some(Page::Number { .. }))
                | (Self::Relay(_), Some(Page::Relay { .. }))
        )
    }

    /// What a request changes to ask for this page of such an op.
    fn change<'s>(&'s self, page: Option<&'s Page>, narrowed: Narrowed<'s>) -> Change<'s> {
        match (self, page) {
            (Self::Link(target), Some(Page::Link { paths })) => Change::Link(target, paths, narrowed),
            (Self::Cursor(cursor), Some(Page::Cursor { query, .. })) => {
                Change::Query(query, cursor.into(), narrowed)
            }
            (Self::Page(number), Some(Page::Number { query })) => {
                Change::Query(query, number.to_string().into(), narrowed)
            }
            (Self::Relay(cursor), Some(Page::Relay { variable, .. })) => Change::Variable(variable, cursor),
            // INVARIANT: a place is of its op's style, which `open_page` and `say` see to.
            _ => Change::Nothing,
        }
    }
}
