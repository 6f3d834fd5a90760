//! What the compiler makes of a file: the code of a component, or of a core module. Neither is ever taken for the other.

use wasmtime::component::Component;
use wasmtime::{Engine, Module, ResourcesRequired};

use super::inspection::Kind;

/// What a file is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// A component.
    Component,
    /// A core module.
    Module,
}

impl Form {
    /// That of a file of this kind.
    pub(super) fn of(kind: &Kind) -> Self {
        if matches!(kind, Kind::Module { .. }) { Self::Module } else { Self::Component }
    }
}

/// Compiled code.
pub(super) enum Native {
    /// Of a component.
    Component(Component),
    /// Of a core module.
    Module(Module),
}

impl Native {
    /// Compiles a file of this form.
    pub(super) fn compile(engine: &Engine, form: Form, bytes: &[u8]) -> wasmtime::Result<Self> {
        Ok(match form {
            Form::Component => Self::Component(Component::from_binary(engine, bytes)?),
            Form::Module => Self::Module(Module::from_binary(engine, bytes)?),
        })
    }

    /// Its form.
    pub(super) fn form(&self) -> Form {
        match self {
            Self::Component(_) => Form::Component,
            Self::Module(_) => Form::Module,
        }
    }

    /// What can be made code of again, by an engine like this one.
    pub(super) fn serialize(&self) -> wasmtime::Result<Vec<u8>> {
        match self {
            Self::Component(component) => component.serialize(),
            Self::Module(module) => module.serialize(),
        }
    }

    /// What an instance of it takes; nothing where that cannot be said beforehand.
    pub(super) fn needs(&self) -> Option<ResourcesRequired> {
        match self {
            Self::Component(component) => component.resources_required(),
            Self::Module(module) => Some(module.resources_required()),
        }
    }
}
