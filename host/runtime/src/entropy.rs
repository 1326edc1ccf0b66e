//! Where randomness comes from: passed in, so that nobody draws any on the quiet.

use std::sync::{Mutex, PoisonError};

use rand::rngs::{StdRng, SysRng};
use rand::{Rng as _, SeedableRng as _, TryRng as _};
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

/// A generator for one piece of work that outlives whoever began it, seeded with 32 bytes of a source.
#[expect(missing_debug_implementations, reason = "it holds a generator's state")]
pub struct Seeded(Mutex<StdRng>);

impl Seeded {
    /// Draws the seed.
    pub fn of(entropy: &dyn Entropy) -> Result<Self, EntropyError> {
        seeded(entropy).map(|rng| Self(Mutex::new(rng)))
    }

    /// A generator of its own.
    pub fn rng(&self) -> Result<StdRng, EntropyError> {
        seeded(self)
    }
}

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
        Ok(())
    }
}
