//! Why there is more than a page, and nobody is led to it.
//!
//! INVARIANT: the words are our own, whatever the service wrote. DESIGN, "Manifest": `page`.

/// Why the next page that an answer speaks of is not followed. The page at hand is passed on all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unfollowed {
    /// A `Link` header, a cursor, a page's number or a `pageInfo` that is not one.
    #[error(
        "there may be more pages, but what the answer says of them cannot be read, so they are not followed"
    )]
    Unreadable,
    /// A link to another host, another path, or with another question than the op's.
    #[error("there are more pages, but the next one is not at the op's own address, so it is not followed")]
    Elsewhere,
    /// The next page is one that was had already.
    #[error("the service names a page again that was had already, so it is not followed")]
    Again,
    /// There is a next page, and nothing by which to ask for it.
    #[error("there are more pages, but the answer does not say how to ask for the next one")]
    NoCursor,
    /// More pages than one run has.
    #[error("there are more pages than one run follows; ask for less with the op's args")]
    TooMany,
    /// No token could be made.
    #[error("there are more pages, but this host could not make a token for the next one")]
    NoToken,
    /// The key that the token is sealed with goes with this process.
    #[error("there are more pages; without a grant they are followed in the same run alone")]
    NotKept,
}
