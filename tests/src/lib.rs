//! Every test that looks at Tacklebox from outside. This library is empty but for the README, whose examples are
//! compiled and run as this package's documentation.

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The page for embedders.
#[cfg(doctest)]
#[doc = include_str!("../../host/EMBEDDING.md")]
pub struct Embedding;
