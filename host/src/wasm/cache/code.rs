//! From an entry that was found sound to code that runs.

use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::super::native::{Form, Native};
use super::copied::Copied;
use super::entry::Artifact;

/// The code in it, of the form that its key has. The engine maps the copy that nobody can change, or copies it once more where
/// it cannot be mapped; nothing of the cache's own file is mapped.
pub(super) fn load(engine: &Engine, artifact: &Artifact) -> wasmtime::Result<Native> {
    let (form, code) = (artifact.form(), artifact.code());
    take(engine, form, code).or_else(|error| match code {
        Copied::Memory(_) => Err(error),
        // There may be no `/proc`, no descriptor left, or a rule that code comes from no such file.
        Copied::File(file) => take(engine, form, &Copied::Memory(file.read()?)),
    })
}

#[expect(unsafe_code, reason = "what was compiled before is taken as it is: the engine cannot prove machine code")]
fn take(engine: &Engine, form: Form, code: &Copied) -> wasmtime::Result<Native> {
    // SAFETY: the bytes must be what `serialize` gave for code of this form, for an engine like this one. That they are
    // rests on:
    // - who wrote them: `Folder::read`, which alone makes artifacts, takes them from a regular file of this user's that
    //   nobody else may write, opened without following links, in a folder of this user's that nobody else may enter,
    //   and looks at the very descriptors that it reads from. What this user's own processes put there on purpose is
    //   trusted: they may run code as this user anyway.
    // - what was written: `CompileCache::put` alone writes there, and only what `Native::serialize` gave.
    // - that it is still that, whole, and about this file, form and engine: a SHA-256 over the key and the code was
    //   compared, of the very bytes that were copied to what is handed over here: memory of this process, or a file
    //   without a name that the kernel lets nobody write to, grow or shrink any more (`copied`), which is what a mapped
    //   file must be for as long as its code lives. So nothing changes in between or later. The key holds the form, and
    //   the engine's version, target, processor features and settings.
    // - and, behind all that, the engine's own look at the form, version and settings in the head of the code.
    unsafe {
        match (form, code) {
            (Form::Component, Copied::Memory(code)) => Component::deserialize(engine, code).map(Native::Component),
            (Form::Component, Copied::File(code)) => {
                Component::deserialize_file(engine, &code.path).map(Native::Component)
            }
            (Form::Module, Copied::Memory(code)) => Module::deserialize(engine, code).map(Native::Module),
            (Form::Module, Copied::File(code)) => Module::deserialize_file(engine, &code.path).map(Native::Module),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wasm::cache::copied::Copying;

    /// Code of both forms.
    fn codes(engine: &Engine) -> [(Form, Vec<u8>); 2] {
        [(Form::Component, "(component)"), (Form::Module, "(module)")].map(|(form, text)| {
            let native = Native::compile(engine, form, &wat::parse_str(text).unwrap()).unwrap();
            (form, native.serialize().unwrap())
        })
    }

    fn copied(mut copying: Copying, code: &[u8]) -> Copied {
        copying.add(code).unwrap();
        copying.finish().unwrap()
    }

    #[test]
    fn code_is_taken_from_either_copy() {
        let engine = Engine::default();
        for (form, code) in codes(&engine) {
            for copying in [Copying::of_size(0), Copying::of_size(1 << 20)] {
                let artifact = Artifact::of(form, copied(copying, &code));
                assert_eq!(load(&engine, &artifact).unwrap().form(), form);
            }
        }
    }

    #[test]
    fn a_copy_that_cannot_be_mapped_is_copied() {
        let engine = Engine::default();
        for (form, code) in codes(&engine) {
            let mut copied = copied(Copying::of_size(1 << 20), &code);
            if let Copied::File(file) = &mut copied {
                file.path = "/nowhere/at/all".into();
            }
            assert!(load(&engine, &Artifact::of(form, copied)).is_ok());
        }
    }

    #[test]
    fn code_that_is_none_is_refused_from_either_copy() {
        let engine = Engine::default();
        for copying in [Copying::of_size(0), Copying::of_size(1 << 20)] {
            let artifact = Artifact::of(Form::Component, copied(copying, b"no code"));
            assert!(load(&engine, &artifact).is_err());
        }
    }
}
