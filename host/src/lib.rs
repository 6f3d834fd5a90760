//! x

pub mod matching;
