//! Every test that looks at Tacklebox from outside, in one binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent;
mod aside;
mod audit;
mod budget;
mod bus;
mod chain;
mod cli;
mod commands;
mod demo;
mod endings;
mod events;
mod examples;
mod explain;
mod gate;
mod generations;
mod grants;
mod guarded;
mod http;
mod instances;
mod languages;
#[cfg(target_os = "linux")]
mod memory;
mod packages;
mod place;
mod plugins;
mod program;
mod prompts;
mod records;
mod settings;
mod shutdown;
mod spans;
mod trust;
mod watching;
