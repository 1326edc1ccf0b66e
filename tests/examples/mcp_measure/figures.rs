//! What many figures come to: quantiles, and the middle of several rounds with how far they lie apart.

use std::time::Duration;

/// The figure that this part of all is not above. `part` is between 0 and 1.
pub(crate) fn quantile(all: &[Duration], part: f64) -> Duration {
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index of some thousand"
    )]
    let at = (last as f64 * part).round() as usize;
    sorted.get(at).copied().unwrap_or_default()
}

/// What the rounds of one measure gave.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rounds(Vec<f64>);

impl Rounds {
    pub(crate) fn add(&mut self, figure: f64) {
        self.0.push(figure);
    }

    pub(crate) fn middle(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    /// The middle, and the least and the most, with so many decimals.
    pub(crate) fn say(&self, decimals: usize) -> String {
        let least = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.0.iter().copied().fold(0.0, f64::max);
        format!("{:.decimals$} ({least:.decimals$} to {most:.decimals$})", self.middle())
    }
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
