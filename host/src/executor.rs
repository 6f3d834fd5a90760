//! The effects: one module for each kind of hook, each of which asks one hook and gives back what came of it.
//! No executor knows of another hook, and none decides what a missing answer means.

pub mod command;
