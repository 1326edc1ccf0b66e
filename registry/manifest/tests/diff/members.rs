//! Every member of a manifest, changed alone.
