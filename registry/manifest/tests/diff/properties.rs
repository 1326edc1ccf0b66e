//! What holds of all comparisons.
