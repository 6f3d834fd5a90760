//! The sandbox as a whole, with guests of a few lines each.

mod asking;
mod bad_files;
mod cache;
mod commands;
mod compiling;
mod grants;
mod guests;
mod isolation;
mod kept;
mod limits;
mod reaching;
mod rough;
mod words;
mod written;
