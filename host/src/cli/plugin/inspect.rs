//! `tacklebox plugin inspect`: what a plugin is, what it could use, and what it asks for; without running it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::diagnostic::printable;
use crate::event::{Events, Object};
use crate::hook::{HookKind, HookSpec};
use crate::permission::Permissions;
use crate::plugin::PluginInfo;
use crate::session::PluginStates;
use crate::settings;
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{CompileCache, Inspection, Kind, Limits, Owner, Plugins};

use super::super::exit::Exit;
use super::super::fault::Fault;
use super::super::style::{DIM, HEAD, HINT, WARNING};
use super::super::{conduct, host, out, permissions};
use super::inspected::Inspected;
use super::permission::{NAMES, Use};

const EXAMPLES: &str = "\
Examples:
  What could this plugin do, if it were allowed to?
    tacklebox plugin inspect guard.wasm
  And which hooks does it ask for? (runs its `describe` in the sandbox)
    tacklebox plugin inspect guard.wasm --describe";

/// Which plugin.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// A component or WASI command, or a folder with a plugin.json
    file: PathBuf,
    /// Run its `describe` as well, in the sandbox and without any permission
    #[arg(long)]
    describe: bool,
    /// Print one JSON value
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    file: PathBuf,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<String>,
    size: usize,
    digest: String,
    imports: Vec<Import>,
    exports: Vec<String>,
    requested: Object,
    granted: Vec<Grant>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    hooks: Vec<Hook>,
    #[serde(skip_serializing_if = "Option::is_none")]
    described: Option<Described>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfit: Option<String>,
    warnings: Vec<String>,
}

/// What settings grant the plugin.
#[derive(Debug, Serialize)]
struct Grant {
    by: String,
    permissions: Object,
}

#[derive(Debug, Serialize)]
struct Import {
    name: String,
    permission: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

#[derive(Debug, Serialize)]
struct Hook {
    event: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<String>,
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
}

#[derive(Debug, Serialize)]
struct Described {
    name: String,
    version: String,
    description: String,
    hooks: Vec<Hook>,
}

/// Inspects. A file that is no plugin which this host runs is shown all the same, and is a fault.
pub(super) fn run(args: Args) -> anyhow::Result<Exit> {
    let inspected = Inspected::at(&args.file)?;
    conduct::run(inspect(args, inspected))
}

async fn inspect(args: Args, inspected: Inspected) -> anyhow::Result<Exit> {
    let unfit = inspected.unfit();
    if args.describe && is_command(&inspected.inspection.kind) {
        let hint = "a settings entry or `plugin.json` says which hooks it answers";
        return Err(Fault::new("a WASI command has no `describe`", hint).into());
    }
    let described = match args.describe && unfit.is_none() {
        true => Some(Described::from(describe(&inspected).await?)),
        false => None,
    };
    let surroundings = host::surroundings(None)?;
    let shown = Shown::new(&args.file, &inspected, described, &surroundings);
    match args.json {
        true => out::json(&shown)?,
        false => out::person(&shown.page())?,
    }
    match unfit {
        Some(fault) => Err(fault.into()),
        None => Ok(Exit::Fine),
    }
}

/// What the settings of the project at hand grant to this very plugin, each with its place.
fn grants(file: &Path, surroundings: &Surroundings) -> Vec<(String, Permissions)> {
    let real = |path: &Path| path.canonicalize().ok();
    let here = real(file);
    let mut found: Vec<(String, Permissions)> = Vec::new();
    for (_, spec) in settings::load(surroundings, &Events::default()).hooks {
        let HookKind::Callback(callback) = &spec.kind else { continue };
        if !callback.grant.is_empty() && here.is_some() && real(&callback.plugin) == here {
            found.push((spec.place.to_string(), callback.grant.clone()));
        }
    }
    found
}

async fn describe(inspected: &Inspected) -> anyhow::Result<PluginInfo> {
    let owner = Owner::new(Source::Session("inspect".into()));
    let name = inspected.manifest.as_ref().and_then(|manifest| manifest.name.clone());
    let owner = match name {
        Some(name) => owner.named(name),
        None => owner,
    };
    let plugins = Plugins::new(PluginStates::default())?;
    let plugins = match host::surroundings(None)?.compile_cache() {
        Some(folder) => plugins.caching_in(CompileCache::at(folder)),
        None => plugins,
    };
    Ok(plugins.load(&inspected.bytes, owner, Limits::default()).await?.info().clone())
}

impl Shown {
    fn new(file: &Path, inspected: &Inspected, described: Option<Described>, surroundings: &Surroundings) -> Self {
        let Inspection { kind, imports, exports, missing, size, digest, .. } = &inspected.inspection;
        let why_missing = |name: &String| missing.iter().find(|one| one.name == *name).map(|one| one.why.clone());
        let import = |name: &String| Import {
            name: name.clone(),
            permission: Use::of(name).words(),
            missing: why_missing(name),
        };
        let (kind, interface) = named(kind);
        let manifest = inspected.manifest.as_ref();
        let requested = manifest.and_then(|manifest| manifest.permissions.clone()).unwrap_or_default();
        let grants = grants(file, surroundings);
        let all = std::iter::once(&requested).chain(grants.iter().map(|(_, grant)| grant));
        let mut flags: Vec<_> = all.flat_map(|some| permissions::flags(some, surroundings)).collect();
        flags.sort();
        flags.dedup();
        let grant =
            |(by, grant): &(String, Permissions)| Grant { by: by.clone(), permissions: permissions::json(grant) };
        Self {
            file: file.to_owned(),
            kind: kind.to_owned(),
            interface,
            size: *size,
            digest: digest.to_string(),
            imports: imports.iter().map(import).collect(),
            exports: exports.clone(),
            requested: permissions::json(&requested),
            granted: grants.iter().map(grant).collect(),
            flags,
            hooks: manifest.and_then(|m| m.hooks.as_ref()).into_iter().flatten().map(Hook::from).collect(),
            described,
            unfit: inspected.unfit().map(|fault| fault.to_string()),
            warnings: inspected.diagnostics.iter().map(ToString::to_string).collect(),
        }
    }

    fn page(&self) -> String {
        let mut page = format!("{HEAD}{}{HEAD:#}\n", printable(&self.file.display().to_string()));
        let interface =
            self.interface.as_ref().map_or_else(String::new, |of| format!(" (interface {})", printable(of)));
        let facts = [
            ["kind".to_owned(), format!("{}{interface}", self.kind)],
            ["size".to_owned(), format!("{} bytes", self.size)],
            ["sha-256".to_owned(), self.digest.clone()],
        ];
        page.push_str(&out::table(&facts.map(Vec::from), "  "));
        page.push_str(&section("imports, and the permissions they could use", &self.import_rows(), "imports nothing"));
        page.push_str(&section("permissions: requested, granted", &self.permission_rows(), "none"));
        for flag in &self.flags {
            page.push_str(&format!("  {WARNING}beware:{WARNING:#} {}\n", printable(flag)));
        }
        page.push_str(&section("hooks of plugin.json", &rows(&self.hooks), "none"));
        if self.wants_it_all() {
            page.push_str(&format!(
                "  {HINT}note:{HINT:#} it imports the whole of WASI, as components of script \
                languages do: what it could use says little about what it uses\n"
            ));
        }
        if let Some(described) = &self.described {
            let title = format!("describe: {} {}", printable(&described.name), printable(&described.version));
            page.push_str(&section(&title, &[vec![printable(&described.description)]], ""));
            page.push_str(&section("hooks it asks for", &rows(&described.hooks), "none"));
        }
        for warning in &self.warnings {
            page.push_str(&format!("{WARNING}warning:{WARNING:#} {}\n", printable(warning)));
        }
        page
    }

    fn import_rows(&self) -> Vec<Vec<String>> {
        let row = |import: &Import| {
            let missing = import.missing.as_ref().map(|why| format!("missing: {}", printable(why)));
            [Some(printable(&import.name)), Some(import.permission.clone()), missing].into_iter().flatten().collect()
        };
        self.imports.iter().map(row).collect()
    }

    /// Every permission that is requested, granted or could be used.
    fn permission_rows(&self) -> Vec<Vec<String>> {
        let could_use = |name: &str| {
            self.imports.iter().any(|import| matches!(Use::of(&import.name), Use::Of(names) if names.contains(&name)))
        };
        let requested = |name: &str| match self.requested.get(name) {
            Some(value) => printable(&value.to_string()),
            None => "not requested".to_owned(),
        };
        let granted = |name: &str| {
            let one = |grant: &Grant| {
                let what = grant.permissions.get(name)?;
                Some(printable(&format!("{what} by {}", grant.by)))
            };
            let all: Vec<_> = self.granted.iter().filter_map(one).collect();
            if all.is_empty() { "none".to_owned() } else { all.join("; ") }
        };
        let is_granted = |name: &str| self.granted.iter().any(|grant| grant.permissions.contains_key(name));
        let counts = |name: &&str| self.requested.contains_key(*name) || is_granted(name) || could_use(name);
        let names = NAMES.into_iter().filter(counts);
        names.map(|name| vec![name.to_owned(), requested(name), granted(name)]).collect()
    }

    fn wants_it_all(&self) -> bool {
        ["wasi:filesystem/", "wasi:sockets/", "wasi:clocks/", "wasi:random/"]
            .iter()
            .all(|package| self.imports.iter().any(|import| import.name.starts_with(package)))
    }
}

fn is_command(kind: &Kind) -> bool {
    matches!(kind, Kind::Command | Kind::Module { command: true })
}

/// A kind in words, and the version of the interface.
pub(super) fn named(kind: &Kind) -> (&'static str, Option<String>) {
    match kind {
        Kind::Plugin(version) => ("plugin", Some(version.clone())),
        Kind::OtherVersion(version) => ("plugin of another interface version", Some(version.clone())),
        Kind::Command => ("WASI command (component)", None),
        Kind::Module { command: true } => ("WASI command (core module)", None),
        Kind::Module { command: false } => ("core module", None),
        Kind::Other => ("component of another world", None),
    }
}

fn section(title: &str, rows: &[Vec<String>], otherwise: &str) -> String {
    let body = match rows.is_empty() {
        true => format!("  {DIM}{otherwise}{DIM:#}\n"),
        false => out::table(rows, "  "),
    };
    format!("{HEAD}{title}{HEAD:#}\n{body}")
}

fn rows(hooks: &[Hook]) -> Vec<Vec<String>> {
    let row = |hook: &Hook| {
        let matcher = hook.matcher.as_deref().unwrap_or("*");
        let condition = hook.condition.as_ref().map_or_else(String::new, |condition| format!("if {condition}"));
        [hook.event.as_str(), &hook.name, matcher, &condition].map(printable).to_vec()
    };
    hooks.iter().map(row).collect()
}

impl From<&HookSpec> for Hook {
    fn from(spec: &HookSpec) -> Self {
        Self {
            event: spec.event.to_string(),
            name: spec.name.to_string(),
            matcher: (!spec.matcher.is_everything()).then(|| spec.matcher.text().to_owned()),
            condition: spec.condition.as_ref().map(|condition| condition.text().to_owned()),
        }
    }
}

impl From<PluginInfo> for Described {
    fn from(info: PluginInfo) -> Self {
        let hooks = info.hooks.into_iter().map(|wanted| Hook {
            event: wanted.event,
            name: wanted.name,
            matcher: wanted.matcher,
            condition: wanted.condition,
        });
        Self {
            name: info.name.to_string(),
            version: info.version,
            description: info.description,
            hooks: hooks.collect(),
        }
    }
}
