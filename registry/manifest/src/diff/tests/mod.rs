//! What holds of every comparison.
