//! `tacklebox plugin inspect`: what a plugin is, what it could use, and what it asks for; without running it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::diagnostic::{printable, printable_path};
use crate::event::{Events, Object};
use crate::hook::{HookKind, HookSpec};
use crate::permission::Permissions;
use crate::plugin::PluginInfo;
use crate::runtime::HooksFile;
use crate::session::PluginStates;
use crate::settings;
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{CompileCache, Inspection, Kind, Limits, Owner, Plugins};

use super::super::exit::Exit;
use super::super::fault::Fault;
use super::super::style::{DIM, HEAD, HINT, WARNING};
use super::super::{conduct, host, out, permissions};
use super::inspected::{Inspected, InspectedFolder};
use super::made::Made;
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
    /// A component or WASI command, or a folder with a plugin.json or hooks/hooks.json
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
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<Made>,
    imports: Vec<Import>,
    exports: Vec<String>,
    requested: Object,
    granted: Vec<Grant>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    hooks: Vec<Hook>,
    #[serde(flatten)]
    folder: Folder,
    #[serde(skip_serializing_if = "Option::is_none")]
    described: Option<Described>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfit: Option<String>,
    warnings: Vec<String>,
}

/// What a folder brings beside its plugin.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Folder {
    /// The hooks of `hooks/hooks.json`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    folder_hooks: Vec<FolderHook>,
    /// The components that these name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    components: Vec<Component>,
    #[serde(skip)]
    warnings: Vec<String>,
    #[serde(skip)]
    unfit: Option<String>,
}

#[derive(Debug, Serialize)]
struct FolderHook {
    #[serde(flatten)]
    hook: Hook,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

#[derive(Debug, Serialize)]
struct Component {
    file: PathBuf,
    kind: &'static str,
    size: usize,
    digest: String,
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
    let InspectedFolder { plugin, hooks, named } = InspectedFolder::at(&args.file)?;
    let folder = Folder::new(hooks, &named);
    match plugin {
        Some(inspected) => conduct::run(inspect(args, inspected, folder)),
        None if args.describe => Err(Fault::new("the folder has no `plugin.json`", "give a component's file").into()),
        None => show(&args, &Shown::of_folder(&args.file, folder)),
    }
}

/// Prints it; a part that is no plugin which this host runs is a fault.
fn show(args: &Args, shown: &Shown) -> anyhow::Result<Exit> {
    match args.json {
        true => out::json(shown)?,
        false => out::person(&shown.page())?,
    }
    match shown.unfit.clone().or_else(|| shown.folder.unfit.clone()) {
        Some(why) => Err(anyhow::Error::msg(why)),
        None => Ok(Exit::Fine),
    }
}

async fn inspect(args: Args, inspected: Inspected, folder: Folder) -> anyhow::Result<Exit> {
    let unfit = inspected.unfit();
    if args.describe && is_command(&inspected.inspection.kind) {
        let hint = "a settings entry or `plugin.json` says which hooks it answers";
        return Err(Fault::new("a WASI command has no `describe`", hint).into());
    }
    let described = match args.describe && unfit.is_none() {
        true => Some(Described::from(describe(&args.file, &inspected).await?)),
        false => None,
    };
    let surroundings = host::surroundings(None)?;
    let shown = Shown { folder, ..Shown::new(&args.file, &inspected, described, &surroundings) };
    let exit = show(&args, &shown);
    match unfit {
        Some(fault) => Err(fault.into()),
        None => exit,
    }
}

/// What the settings of the project at hand grant to this very plugin, each with its place.
fn grants(file: &Path, surroundings: &Surroundings) -> Vec<(String, Permissions)> {
    let real = |path: &Path| path.canonicalize().ok();
    let here = real(file);
    let mut found: Vec<(String, Permissions)> = Vec::new();
    let files = settings::locate(surroundings).into_iter();
    let whole = files.filter_map(|file| settings::read(&file, &Events::default(), surroundings));
    for plugin in whole.flat_map(|file| file.plugins) {
        if !plugin.given.permissions.is_empty() && here.is_some() && real(&plugin.path) == here {
            found.push((plugin.place.to_string(), plugin.given.permissions));
        }
    }
    for (_, spec) in settings::load(surroundings, &Events::default()).hooks {
        let HookKind::Callback(callback) = &spec.kind else { continue };
        if !callback.grant.is_empty() && here.is_some() && real(&callback.plugin) == here {
            found.push((spec.place.to_string(), callback.grant.clone()));
        }
    }
    found
}

async fn describe(file: &Path, inspected: &Inspected) -> anyhow::Result<PluginInfo> {
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
    let loading = plugins.load(&inspected.bytes, owner, Limits::default());
    Ok(conduct::telling(loading, || host::compiling(file)).await?.info().clone())
}

impl Shown {
    fn new(file: &Path, inspected: &Inspected, described: Option<Described>, surroundings: &Surroundings) -> Self {
        let Inspection { kind, imports, exports, missing, size, digest, producers, .. } = &inspected.inspection;
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
            size: Some(*size),
            digest: Some(digest.to_string()),
            made: Made::by(producers),
            imports: imports.iter().map(import).collect(),
            exports: exports.clone(),
            requested: permissions::json(&requested),
            granted: grants.iter().map(grant).collect(),
            flags,
            hooks: manifest.and_then(|m| m.hooks.as_ref()).into_iter().flatten().map(Hook::from).collect(),
            folder: Folder::default(),
            described,
            unfit: inspected.unfit().map(|fault| fault.to_string()),
            warnings: inspected.diagnostics.iter().map(ToString::to_string).collect(),
        }
    }

    /// A folder without a plugin of its own.
    fn of_folder(file: &Path, folder: Folder) -> Self {
        Self {
            file: file.to_owned(),
            kind: "folder of hooks".to_owned(),
            interface: None,
            size: None,
            digest: None,
            made: None,
            imports: Vec::new(),
            exports: Vec::new(),
            requested: Object::new(),
            granted: Vec::new(),
            flags: Vec::new(),
            hooks: Vec::new(),
            folder,
            described: None,
            unfit: None,
            warnings: Vec::new(),
        }
    }

    fn page(&self) -> String {
        let mut page = format!("{HEAD}{}{HEAD:#}\n", printable_path(&self.file));
        let interface =
            self.interface.as_ref().map_or_else(String::new, |of| format!(" (interface {})", printable(of)));
        let fact = |what: &str, value: String| vec![what.to_owned(), value];
        let mut facts = vec![fact("kind", format!("{}{interface}", self.kind))];
        facts.extend(self.size.map(|size| fact("size", format!("{size} bytes"))));
        facts.extend(self.digest.clone().map(|digest| fact("sha-256", digest)));
        facts.extend(self.made.as_ref().map(|made| fact("made with", made.words())));
        page.push_str(&out::table(&facts, "  "));
        self.folder.on(&mut page);
        if self.size.is_none() {
            return page;
        }
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

impl Folder {
    fn new(hooks: Option<HooksFile>, components: &[(PathBuf, Inspected)]) -> Self {
        let component = |(file, inspected): &(PathBuf, Inspected)| Component {
            file: file.clone(),
            kind: named(&inspected.inspection.kind).0,
            size: inspected.inspection.size,
            digest: inspected.inspection.digest.to_string(),
        };
        let fault = |(file, inspected): &(PathBuf, Inspected)| {
            inspected.unfit().map(|fault| format!("{}: {fault}", file.display()))
        };
        let (hooks, said) = hooks.map(|file| (file.hooks, file.diagnostics)).unwrap_or_default();
        Self {
            folder_hooks: hooks.iter().map(FolderHook::new).collect(),
            components: components.iter().map(component).collect(),
            warnings: said.iter().map(ToString::to_string).collect(),
            unfit: components.iter().find_map(fault),
        }
    }

    fn on(&self, page: &mut String) {
        if !self.folder_hooks.is_empty() {
            let rows: Vec<_> = self.folder_hooks.iter().map(FolderHook::row).collect();
            page.push_str(&section("hooks of hooks/hooks.json", &rows, "none"));
        }
        if !self.components.is_empty() {
            let row = |one: &Component| vec![printable_path(&one.file), one.kind.to_owned(), one.digest.clone()];
            page.push_str(&section(
                "components that they name",
                &self.components.iter().map(row).collect::<Vec<_>>(),
                "",
            ));
        }
        for warning in &self.warnings {
            page.push_str(&format!("{WARNING}warning:{WARNING:#} {}\n", printable(warning)));
        }
    }
}

impl FolderHook {
    fn new(spec: &HookSpec) -> Self {
        let command = match &spec.kind {
            HookKind::Command(command) => Some(command.command.clone()),
            _ => None,
        };
        Self { hook: Hook::from(spec), kind: spec.kind.name().as_str(), command }
    }

    fn row(&self) -> Vec<String> {
        let mut row: Vec<_> = rows(std::slice::from_ref(&self.hook)).into_iter().flatten().collect();
        row.push(self.kind.to_owned());
        row.extend(self.command.iter().map(|command| printable(command)));
        row
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
