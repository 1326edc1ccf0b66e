//! From what an answer says to the token that the next page is asked for with.
//!
//! INVARIANT: a token is sealed only over a page whose request renders: its link passed every check that it will pass when
//! it is followed, and it is no page that this run has had.

use pinhole_grant::PageParts;
use pinhole_grant::page::PAGE_NONCE_BYTES;
use pinhole_manifest::Digest;
use pinhole_manifest::model::Page;

use super::{Bookmark, OnPage, Place, Said};
use crate::call::Executor;
use crate::outcome::Unfollowed;
use crate::project::Tree;
use crate::render::{self, Change, Narrowed, RenderError, Rendered};

/// Most pages of one run.
const PAGES_MAX: u32 = 10_000;

impl OnPage<'_> {
    /// The token of the page behind this one, if there is one, out of what the answer said and what was picked of it.
    pub(in crate::call) fn seal_next(
        &self,
        said: &Said,
        result: &Tree,
        executor: &Executor,
    ) -> Result<Option<pinhole_grant::PageToken>, Unfollowed> {
        let (at, before) = match said {
            Said::Nothing => return Ok(None),
            Said::Odd(why) => return Err(*why),
            Said::At(place) => (place.clone(), None),
            Said::Numbered if !has_elements(result) => return Ok(None),
            Said::Numbered => {
                let digest = Digest::of(result.to_string().as_bytes());
                if self.bookmark().is_some_and(|bookmark| bookmark.before == Some(digest)) {
                    return Err(Unfollowed::Again);
                }
                (Place::Page(self.page_after()?), Some(digest))
            }
        };
        let bookmark = self.bookmark_at(at, before)?;
        let place = serde_json::to_string(&bookmark).map_err(|_unwritable| Unfollowed::NoToken)?;
        let mut nonce = [0; PAGE_NONCE_BYTES];
        executor.entropy.fill(&mut nonce).map_err(|_none| Unfollowed::NoToken)?;
        let agreed = &self.authorized.agreed;
        let parts = PageParts {
            issuer: agreed.grant().issuer(),
            action: self.authorized.action,
            grant: agreed.grant().id(),
            principal: agreed.request.principal,
            place,
        };
        let sealed = pinhole_grant::seal_page(parts, agreed.bot(executor), agreed.now, nonce);
        sealed.map(Some).map_err(|_error| Unfollowed::NoToken)
    }

    fn bookmark(&self) -> Option<&Bookmark> {
        self.further.as_ref().map(|further| &further.bookmark)
    }

    /// The place, once it is known that it can be asked for and was not had.
    ///
    /// One earlier request is remembered, and another one at every page whose number is a power of two: every way of going
    /// round is met within a few rounds (Brent), and a token does not grow.
    fn bookmark_at(&self, at: Place, before: Option<Digest>) -> Result<Bookmark, Unfollowed> {
        let number = self.bookmark().map_or(1, |bookmark| bookmark.number);
        if number >= PAGES_MAX {
            return Err(Unfollowed::TooMany);
        }
        let narrows = |arg: &_| self.narrows(arg);
        let here = self.request(&self.change(Narrowed(&narrows)))?;
        let next = self.request(&at.change(self.authorized.agreed.op.page.as_ref(), Narrowed(&narrows)))?;
        let remembered = self.bookmark().map(|bookmark| bookmark.mark);
        if next == here || remembered == Some(next) {
            return Err(Unfollowed::Again);
        }
        let mark = remembered.filter(|_| !number.is_power_of_two()).unwrap_or(here);
        Ok(Bookmark { at, number: number.saturating_add(1), mark, before })
    }

    /// Which request this is.
    fn request(&self, change: &Change<'_>) -> Result<Digest, Unfollowed> {
        let agreed = &self.authorized.agreed;
        let request = agreed.op.request().ok_or(Unfollowed::Unreadable)?;
        let rendered = render::render_page(agreed.manifest, request, &self.authorized.args, change);
        let Rendered { target, body, .. } = rendered.map_err(|error| match error {
            RenderError::PageAstray => Unfollowed::Elsewhere,
            _ => Unfollowed::Unreadable,
        })?;
        let body = body.unwrap_or_default();
        Ok(Digest::of(&[target.as_bytes(), b"\n", &body].concat()))
    }

    /// The number of the page behind this one: this one's own is in its token, else in the op's query, else it is 1.
    fn page_after(&self) -> Result<u64, Unfollowed> {
        let agreed = &self.authorized.agreed;
        let here = match (self.bookmark().map(|bookmark| &bookmark.at), &agreed.op.page) {
            (Some(Place::Page(number)), _) => *number,
            (_, Some(Page::Number { query })) => self.asked_for(query)?.unwrap_or(1),
            _ => return Err(Unfollowed::Unreadable),
        };
        here.checked_add(1).ok_or(Unfollowed::Unreadable)
    }

    /// The page that the args ask for, where the op lets them.
    fn asked_for(&self, key: &str) -> Result<Option<u64>, Unfollowed> {
        let agreed = &self.authorized.agreed;
        let request = agreed.op.request().ok_or(Unfollowed::Unreadable)?;
        let rendered = render::render(agreed.manifest, request, &self.authorized.args);
        let target = rendered.map_err(|_error| Unfollowed::Unreadable)?.target;
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let mut values = url::form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == key);
        values.next().map(|(_, value)| value.parse().map_err(|_error| Unfollowed::Unreadable)).transpose()
    }
}

/// Whether a list of the result has an element: a service that numbers its pages says by an empty one that it was the last.
fn has_elements(result: &Tree) -> bool {
    match result {
        Tree::Array(elements) => !elements.is_empty(),
        Tree::Object(members) => members.iter().any(|(_, member)| has_elements(member)),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => false,
    }
}
