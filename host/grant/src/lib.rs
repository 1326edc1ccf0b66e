//! Keys, credentials and grants: how a person lets a bot use a connected service without handing over the key.
//!
//! Pure: bytes in, bytes out. No network, no file system, no environment; the time and the entropy are passed in. The only
//! way to an [`OpenedGrant`] is [`open`], and it makes every check of DESIGN, "Crypto", before it returns one. Nothing
//! here knows what was used up or revoked: that is the store's to say.

#![forbid(unsafe_code)]

pub mod approval;
pub mod broker;
pub mod credential;
pub mod grant;
pub mod kept;
pub mod keys;
pub mod page;
pub mod pair;
pub mod receipt;
pub mod returned;
pub mod scope;
pub mod seal;
pub mod secret;
pub mod sign;
pub mod text;
pub mod time;

mod keyed;
mod wire;

pub use approval::{Action, ActionDigest, ActionError};
pub use broker::{
    Answer, AnsweredPair, Ask, Asked, NoPair, Nonce, OpenAnswerError, OpenAskError, OpenedAsk, PairHalf,
    Reached, SealAskError, open_answer, open_ask, seal_answer, seal_ask,
};
pub use credential::{
    ClientId, ClientIdError, Credential, CredentialError, CredentialKind, CredentialParts, Dial,
    OpenCredentialError, Renewer, SealCredentialError, open_credential, seal_credential,
};
pub use grant::{
    Caution, Grant, Inconsistency, InspectError, InspectedCredential, Inspection, MintError, MintRequest,
    OpenError, OpenedGrant, RuleBroken, SealedGrant, Standing, Succession, Target, inspect, mint, open,
};
pub use kept::{CallKey, CallKeyError, KeptError, Keyed, act_digest, open_kept, seal_kept};
pub use keyed::KeyedDigest;
pub use keys::{Former, KeyFileError, KeyId, KeyKind, PublicKey, PublicKeyError, Ring, RingError, SecretKey};
pub use page::{OpenPageError, OpenedPage, PageParts, PageToken, SealPageError, open_page, seal_page};
pub use pair::{KeptPair, OpenPairError, PairDigest, SealPairError, open_pair, seal_pair};
pub use receipt::args_digest;
pub use returned::{OpenReturnedError, ReturnError, open_returned, seal_returned};
pub use scope::{Attempt, Scope, ScopeError, Where, WhereError};
pub use seal::Kind;
pub use secret::{Passphrase, PassphraseError, Secret, SecretError};
pub use text::{Account, CredentialId, GrantId, IdError, Label, PrincipalId, SourceName, TextError};
pub use time::UnixTime;
