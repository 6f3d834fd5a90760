//! The sandbox as a whole, with guests of a few lines each.

mod asking;
mod bad_files;
mod isolation;
mod limits;
mod words;
