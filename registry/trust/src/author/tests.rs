//! How a maintainer works.
