//! Every test that looks at Tacklebox from outside, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod bus;
mod chain;
mod cli;
mod commands;
mod demo;
mod events;
mod examples;
mod gate;
mod generations;
mod plugins;
mod program;
mod prompts;
mod settings;
mod trust;
