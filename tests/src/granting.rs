//! Grants by a small builder: begin with what every grant of a test has, change what the test is about, seal.
//!
//! Mints through the real `mint`; only [`altered`] and [`resigned`] make what minting would refuse, as somebody with the
//! keys and a program of her own could.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use pinhole_grant::{
    Account, Credential, CredentialKind, CredentialParts, GrantId, Kind, Label, MintRequest, PublicKey,
    Scope, SealedGrant, Secret, SecretKey, SourceName, Where, mint, seal, sign,
};
use pinhole_manifest::{Access, ArgName, Digest, OpId};
use serde_json::Value;

use crate::stage::{HOUR, KEY, NOW, Stage, action, entropy, op_name};

/// A grant that is being made.
#[must_use = "a grant is made when it is sealed"]
pub struct Granting<'s> {
    stage: &'s Stage,
    /// The credential that goes into it.
    pub credential: CredentialParts,
    /// What is asked for.
    pub request: MintRequest,
}

impl<'s> Granting<'s> {
    pub(crate) fn read(stage: &'s Stage, service: &str) -> Self {
        let entry = stage.entry(service);
        let scope = Scope::new(Access::Read, NOW, NOW.plus_secs(HOUR));
        let bot = stage.executor.bot.public().clone();
        let credential = CredentialParts {
            id: stage.connection,
            service: entry.manifest.id().clone(),
            label: Label::parse("work").expect("a label"),
            account: Account::parse("wren").expect("an account"),
            host: entry.manifest.host().clone(),
            token_url: None,
            registry: SourceName::parse(entry.source.name()).expect("a source"),
            kind: CredentialKind::Pat,
            secret: Secret::new(KEY.to_owned()).expect("a key"),
            refresh: None,
            expires_at: None,
            renewer: None,
            cap: Access::Write,
            dial: stage.executor.wire.dial(entry.manifest.host()),
        };
        Self { stage, credential, request: MintRequest::new(bot, entry.manifest.digest(), scope) }
    }

    pub(crate) fn approval(stage: &'s Stage, name: &str, args: &Value) -> Self {
        let (service, op) = op_name(name);
        let begun = Self::read(stage, service.as_str()).write(1).ops(&[op.as_str()]);
        let args = stage.normal_args(name, args);
        let bot = begun.request.bot.id();
        let whose = (begun.credential.id, &begun.credential.account);
        let digest = action(stage.entry(service.as_str()), &op, &args, whose, bot).digest();
        begun.asking(|request| request.approves = Some(digest.expect("an action")))
    }

    /// A write grant of so many uses.
    pub fn write(self, uses: u32) -> Self {
        self.scoped(|scope| scope.access = Access::Write).uses(uses)
    }

    /// For so many runs.
    pub fn uses(self, uses: u32) -> Self {
        self.scoped(|scope| scope.uses = Some(NonZeroU32::new(uses).expect("at least one use")))
    }

    /// For these ops alone.
    pub fn ops(self, ops: &[&str]) -> Self {
        let ops = ops.iter().map(|op| OpId::parse(op).expect("an op's name")).collect();
        self.scoped(|scope| scope.ops = Some(ops))
    }

    /// With one arg narrowed to these values.
    pub fn narrowed(self, arg: &str, values: &[Value]) -> Self {
        let arg = ArgName::parse(arg).expect("an arg's name");
        let wheres = Where::new(BTreeMap::from([(arg, values.to_vec())])).expect("a narrowing");
        self.scoped(|scope| scope.wheres = wheres)
    }

    /// Given under another manifest of the service.
    pub fn under(self, manifest: Digest) -> Self {
        self.asking(|request| request.manifest = manifest)
    }

    /// For another bot.
    pub fn to(self, bot: &PublicKey) -> Self {
        self.asking(|request| request.bot = bot.clone())
    }

    /// With another scope.
    pub fn scoped(mut self, change: impl FnOnce(&mut Scope)) -> Self {
        change(&mut self.request.scope);
        self
    }

    /// With another credential.
    pub fn with(mut self, change: impl FnOnce(&mut CredentialParts)) -> Self {
        change(&mut self.credential);
        self
    }

    /// With another request.
    pub fn asking(mut self, change: impl FnOnce(&mut MintRequest)) -> Self {
        change(&mut self.request);
        self
    }

    fn minted(self) -> SealedGrant {
        let credential = Credential::new(self.credential).expect("a credential");
        let minted = mint(&self.request, &credential, &self.stage.member, NOW, &mut entropy());
        minted.expect("a grant that the rules allow")
    }

    /// The sealed grant.
    pub fn seal(self) -> Vec<u8> {
        self.minted().into_bytes()
    }

    /// The sealed grant, and its id.
    pub fn seal_with_id(self) -> (GrantId, Vec<u8>) {
        let minted = self.minted();
        (minted.id(), minted.into_bytes())
    }
}

/// A grant with one member of its payload set, signed by the stage's member and sealed to its bot again.
pub fn altered(stage: &Stage, grant: &[u8], pointer: &str, value: Value) -> Vec<u8> {
    let signed = seal::open(Kind::Grant, grant, stage.executor.bot.current()).expect("the bot's grant");
    let keys = [stage.member.public().clone()];
    let verified = sign::verify(Kind::Grant, &signed, &keys).expect("the member's grant");
    let mut payload: Value = serde_json::from_slice(verified.payload()).expect("JSON");
    *payload.pointer_mut(pointer).expect("a member of the payload") = value;
    let signed = sign::sign(Kind::Grant, payload.to_string().as_bytes(), &stage.member).expect("signed");
    seal::seal(Kind::Grant, stage.executor.bot.public(), &signed, &mut entropy()).expect("sealed")
}

/// A grant whose signature is another key's, under the name of the one who made it.
pub fn resigned(stage: &Stage, grant: &[u8], by: &SecretKey) -> Vec<u8> {
    let bot = stage.executor.bot.current();
    let signed = seal::open(Kind::Grant, grant, bot).expect("the bot's grant");
    let keys = [stage.member.public().clone()];
    let payload = sign::verify(Kind::Grant, &signed, &keys).expect("the member's grant").payload().to_vec();
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON");
    let mut envelope = json(&signed);
    let other = json(&sign::sign(Kind::Grant, &payload, by).expect("signed"));
    envelope["signatures"][0]["sig"] = other["signatures"][0]["sig"].clone();
    seal::seal(Kind::Grant, bot.public(), envelope.to_string().as_bytes(), &mut entropy()).expect("sealed")
}
