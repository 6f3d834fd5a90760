//! Every shape that comes from outside or goes there. Pure: text in, words out; who starts a process or opens a file
//! is said elsewhere.

pub mod freecode;
pub mod json;
pub mod process;
pub mod text;
