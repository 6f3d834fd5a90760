//! What a file is, read from its bytes: nothing is compiled and nothing runs.

use wasmparser::{ComponentExternName, Encoding, ExternalKind, Instance, Parser, Payload};

use super::command::START;
use super::imports::{self, MissingImport};
use super::load_error::LoadError;
use super::name::InterfaceName;
use super::{bindings, limits};
use crate::plugin::Digest;

const MAGIC: &[u8] = b"\0asm";
const PREAMBLE: usize = 8;

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
            missing: parts.missing(),
            imports: parts.imports,
            exports: parts.exports,
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
    let Some(mut rest) = bytes.get(PREAMBLE..) else { return true };
    while let [_section, after @ ..] = rest {
        let Some((size, contents)) = leb128(after) else { return true };
        let Some(next) = contents.get(size..) else { return true };
        rest = next;
    }
    false
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
    core_instances: usize,
    has_start: bool,
}

impl Parts {
    fn read(bytes: &[u8]) -> Result<Self, LoadError> {
        let mut parts = Self::default();
        // Components and modules stand within each other; the outermost one is at depth 1.
        let mut depth = 0;
        for payload in Parser::new(0).parse_all(bytes) {
            let payload = payload.map_err(malformed)?;
            match &payload {
                Payload::Version { encoding, .. } => {
                    depth += 1;
                    parts.is_component |= depth == 1 && *encoding == Encoding::Component;
                }
                Payload::End(_) => depth -= 1,
                _ => parts.take(&payload, depth == 1).map_err(malformed)?,
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
