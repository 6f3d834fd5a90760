//! x
mod expression;
mod matcher;
mod pattern;
pub mod shell;
