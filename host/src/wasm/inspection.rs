//! What a file is, read from its bytes: nothing is compiled and nothing runs.

use wasmparser::{ComponentExternName, ComponentInstance, Encoding, ExternalKind, Instance, Parser, Payload};

use super::command::START;
use super::imports::{self, MissingImport};
use super::load_error::LoadError;
use super::name::InterfaceName;
use super::producers::{Found, Producers};
use super::{bindings, limits};
use crate::plugin::Digest;

/// What every file begins with.
pub(super) const MAGIC: &[u8] = b"\0asm";
/// What stands before the sections.
pub(super) const PREAMBLE: usize = 8;

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// What it can be used as.
    pub kind: Kind,
    /// What it imports, by full name; of a core module `module::name`.
    pub imports: Vec<String>,
    /// What it exports, by full name.
    pub exports: Vec<String>,
    /// Those of its imports that this host lacks.
    pub missing: Vec<MissingImport>,
    /// Of how many core instances it is made, as far as its text says.
    pub core_instances: usize,
    /// Of how many instances it could be made at most: components that instantiate each other multiply.
    pub most_instances: usize,
    /// What made it, as it says itself.
    pub producers: Producers,
    /// Its size in bytes.
    pub size: usize,
    /// Its digest.
    pub digest: Digest,
}

/// What a file can be used as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A component with the callback interface, in the version that it was built for: `0.1.0`.
    Plugin(String),
    /// A component with a callback interface that this host does not know, of that version.
    OtherVersion(String),
    /// A WASI command that is a component: it exports `wasi:cli/run@0.2.x`.
    Command,
    /// A core module; a WASI command where it exports the function `_start`.
    Module {
        /// Whether it is one.
        command: bool,
    },
    /// A component of another world.
    Other,
}

impl Inspection {
    /// Of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, LoadError> {
        check_file(bytes)?;
        let parts = Parts::read(bytes)?;
        Ok(Self {
            kind: parts.kind(),
            most_instances: parts.most_instances(),
            missing: parts.missing(),
            imports: parts.imports,
            exports: parts.exports,
            producers: parts.producers.producers(),
            core_instances: parts.core_instances,
            size: bytes.len(),
            digest: Digest::of(bytes),
        })
    }

    /// Whether it imports anything of WASI.
    pub(super) fn wants_wasi(&self) -> bool {
        self.imports.iter().any(|import| import.starts_with("wasi:"))
    }
}

fn check_file(bytes: &[u8]) -> Result<(), LoadError> {
    match bytes {
        [] => Err(LoadError::Empty),
        _ if bytes.len() > limits::LARGEST_FILE => Err(LoadError::TooLarge { bytes: bytes.len() }),
        _ if !bytes.starts_with(MAGIC) && !MAGIC.starts_with(bytes) => Err(LoadError::NotWasm),
        _ if is_cut(bytes) => Err(LoadError::CutShort),
        _ => Ok(()),
    }
}

/// Whether the file ends within its preamble or within one of its sections.
fn is_cut(bytes: &[u8]) -> bool {
    bytes.len() < PREAMBLE || sections(bytes).any(|section| section.is_none())
}

/// A section as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'a> {
    pub(super) id: u8,
    /// With its header.
    pub(super) whole: &'a [u8],
    pub(super) contents: &'a [u8],
}

/// The file's own sections; the last is `None` where the file ends within it.
pub(super) fn sections(bytes: &[u8]) -> impl Iterator<Item = Option<Section<'_>>> {
    let mut rest = bytes.get(PREAMBLE..).unwrap_or_default();
    std::iter::from_fn(move || {
        let id = *rest.first()?;
        let section = section(id, rest);
        rest = section.map_or(&[], |section| &rest[section.whole.len()..]);
        Some(section)
    })
}

fn section(id: u8, bytes: &[u8]) -> Option<Section<'_>> {
    let (size, from) = leb128(bytes.get(1..)?)?;
    let contents = from.get(..size)?;
    let whole = bytes.len() - from.len() + size;
    Some(Section { id, whole: &bytes[..whole], contents })
}

/// A number of at most 32 bits, and what stands after it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_usize;
    for (n, byte) in bytes.iter().take(5).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * n);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[n + 1..]));
        }
    }
    None
}

/// What stands in the file.
#[derive(Debug, Default)]
struct Parts {
    is_component: bool,
    imports: Vec<String>,
    exports: Vec<String>,
    producers: Found,
    core_instances: usize,
    has_start: bool,
    /// How many components each component instantiates, the innermost open one last.
    open: Vec<usize>,
    /// How many instances of components there can be, by those components that have ended.
    ended: usize,
}

impl Parts {
    fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        let mut parts = Self { ended: 1, ..Self::default() };
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(malformed)?;
            parts.producers.take(&payload);
            match &payload {
                Payload::Version { encoding, .. } => {
                    // Components and modules stand within each other.
                    parts.open.push(0);
                    parts.is_component |= parts.open.len() == 1 && *encoding == Encoding::Component;
                }
                Payload::End(_) => parts.end(),
                _ => parts.take(&payload, parts.open.len() == 1).map_err(malformed)?,
            }
        }
        Ok(parts)
    }

    fn take(&mut self, payload: &Payload<'_>, outermost: bool) -> wasmparser::Result<()> {
        match payload {
            Payload::InstanceSection(instances) => {
                for instance in instances.clone() {
                    self.core_instances += usize::from(matches!(instance?, Instance::Instantiate { .. }));
                }
            }
            Payload::ComponentInstanceSection(instances) => {
                for instance in instances.clone() {
                    let more = usize::from(matches!(instance?, ComponentInstance::Instantiate { .. }));
                    self.open.last_mut().into_iter().for_each(|made| *made += more);
                }
            }
            Payload::ComponentImportSection(imports) if outermost => {
                for import in imports.clone() {
                    self.imports.push(full_name(&import?.name));
                }
            }
            Payload::ComponentExportSection(exports) if outermost => {
                for export in exports.clone() {
                    self.exports.push(full_name(&export?.name));
                }
            }
            Payload::ImportSection(imports) if outermost => {
                for import in imports.clone().into_imports() {
                    let import = import?;
                    self.imports.push(format!("{}::{}", import.module, import.name));
                }
            }
            Payload::ExportSection(exports) if outermost => {
                for export in exports.clone() {
                    let export = export?;
                    self.has_start |= export.name == START && export.kind == ExternalKind::Func;
                    self.exports.push(export.name.to_owned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn missing(&self) -> Vec<MissingImport> {
        if self.is_component { imports::missing(&self.imports) } else { imports::missing_of_module(&self.imports) }
    }

    /// A component can instantiate those that stand in it or before it, each of them as many others as it could by itself.
    fn end(&mut self) {
        let made = self.open.pop().unwrap_or_default();
        self.ended = self.ended.saturating_mul(made.saturating_add(1));
    }

    /// Each instance of a component could make all core instances that are written anywhere.
    fn most_instances(&self) -> usize {
        self.ended.saturating_mul(self.core_instances.max(1))
    }

    fn kind(&self) -> Kind {
        if !self.is_component {
            return Kind::Module { command: self.has_start };
        }
        let interfaces = || self.exports.iter().filter_map(|name| InterfaceName::parse(name));
        let callbacks = || interfaces().filter(|name| name.is(bindings::PACKAGE, bindings::EXPORT));
        if let Some(callback) = callbacks().find(InterfaceName::is_ours) {
            return Kind::Plugin(callback.version.to_owned());
        }
        match callbacks().next() {
            Some(callback) => Kind::OtherVersion(callback.version.to_owned()),
            None if interfaces().any(|name| name.is("wasi:cli", "run") && name.is_of(0, 2)) => Kind::Command,
            None => Kind::Other,
        }
    }
}

fn full_name(name: &ComponentExternName<'_>) -> String {
    format!("{}{}", name.name, name.version_suffix.unwrap_or_default())
}

fn malformed(error: wasmparser::BinaryReaderError) -> LoadError {
    LoadError::Malformed(error.to_string())
}
