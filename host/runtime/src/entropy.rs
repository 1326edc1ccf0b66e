//! Where randomness comes from: passed in, so that nobody draws any on the quiet.

use rand::rngs::{StdRng, SysRng};
use rand::{SeedableRng as _, TryRng as _};
use zeroize::Zeroizing;

/// The source has none to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no randomness to be had")]
pub struct EntropyError;

/// A source of random bytes that nobody can foresee.
pub trait Entropy: Send + Sync {
    /// Fills all of `bytes`.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError>;
}

/// The operating system's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        SysRng.try_fill_bytes(bytes).or(Err(EntropyError))
    }
}

/// A generator for keys and ids, seeded with 32 bytes of the source.
pub fn seeded(entropy: &dyn Entropy) -> Result<StdRng, EntropyError> {
    let mut seed = Zeroizing::new([0; 32]);
    entropy.fill(&mut *seed)?;
    Ok(StdRng::from_seed(*seed))
}
