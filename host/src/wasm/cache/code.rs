//! From an entry that was found sound to code that runs.

use std::ops::Deref;

use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::super::native::{Form, Native};
use super::entry::Artifact;

/// The code in it, of the form that its key has. The engine copies it; nothing of the file is mapped.
#[expect(unsafe_code, reason = "what was compiled before is taken as it is: the engine cannot prove machine code")]
pub(super) fn load<B: Deref<Target = [u8]>>(engine: &Engine, artifact: &Artifact<B>) -> wasmtime::Result<Native> {
    // SAFETY: the bytes must be what `serialize` gave for code of this form, for an engine like this one. That they are
    // rests on:
    // - who wrote them: `Folder::read`, which alone makes artifacts, takes them from a regular file of this user's that
    //   nobody else may write, opened without following links, in a folder of this user's that nobody else may enter,
    //   and looks at the very descriptors that it reads from. What this user's own processes put there on purpose is
    //   trusted: they may run code as this user anyway.
    // - what was written: `CompileCache::put` alone writes there, and only what `Native::serialize` gave.
    // - that it is still that, whole, and about this file, form and engine: a SHA-256 over the key and the code was
    //   compared, of the bytes in memory that are handed over here, so that nothing can change in between. The key
    //   holds the form, and the engine's version, target, processor features and settings.
    // - and, behind all that, the engine's own look at the form, version and settings in the head of the code.
    unsafe {
        Ok(match artifact.form() {
            Form::Component => Native::Component(Component::deserialize(engine, artifact.code())?),
            Form::Module => Native::Module(Module::deserialize(engine, artifact.code())?),
        })
    }
}
