//! What a project would run, literally, for a person and as JSON.

use std::path::PathBuf;

use serde::Serialize;

use crate::diagnostic::{printable, printable_path};
use crate::event::Object;
use crate::hook::{HookEnv, HookKind, HookSpec, Lifetime};
use crate::limits::LimitsSaid;
use crate::plugin::Digest;
use crate::settings::{Dropped, Why};
use crate::source::{Scope, Source};
use crate::surroundings::Surroundings;
use crate::trust::{Brought, BroughtHook, BroughtPlugin, NamedFile};

use super::super::permissions;
use super::super::style::{DIM, HEAD, WARNING};

/// What a project brings, ready to be shown.
pub(super) struct Shown {
    /// Its canonical path.
    pub(super) project: PathBuf,
    /// Of all of it.
    pub(super) digest: Digest,
    /// Whether it is trusted as it is now.
    pub(super) trusted: bool,
    hooks: Vec<Line>,
    plugins: Vec<PluginLine>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownJson<'a> {
    project: &'a PathBuf,
    digest: String,
    trusted: bool,
    hooks: &'a [Line],
    #[serde(skip_serializing_if = "<[PluginLine]>::is_empty")]
    plugins: &'a [PluginLine],
}

/// A plugin that is loaded whole.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PluginLine {
    name: String,
    source: String,
    path: PathBuf,
    #[serde(skip_serializing_if = "Object::is_empty")]
    config: Object,
    #[serde(skip_serializing_if = "Object::is_empty")]
    limits: Object,
    #[serde(skip_serializing_if = "Object::is_empty")]
    grants: Object,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(skip)]
    grant_rows: Vec<(&'static str, Vec<String>)>,
    files: Vec<FileLine>,
    hooks: Vec<Line>,
}

/// One hook.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    event: String,
    name: String,
    source: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<String>,
    #[serde(rename = "if", skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asks: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<PathBuf>,
    #[serde(skip_serializing_if = "Object::is_empty")]
    config: Object,
    #[serde(skip_serializing_if = "Object::is_empty")]
    grants: Object,
    #[serde(skip_serializing_if = "Object::is_empty")]
    limits: Object,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(skip)]
    grant_rows: Vec<(&'static str, Vec<String>)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sets: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keeps: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
}

#[derive(Serialize)]
struct FileLine {
    path: PathBuf,
    sha256: Option<String>,
}

impl Shown {
    /// `dropped` tells which of the user's hooks are replaced.
    pub(super) fn new(
        project: PathBuf,
        brought: &Brought,
        trusted: bool,
        dropped: &[Dropped],
        surroundings: &Surroundings,
    ) -> Self {
        let hooks = brought.hooks().iter();
        let hooks = hooks.map(|hook| Line::new(hook, replaced(hook, dropped), surroundings)).collect();
        let plugins = brought.plugins().iter();
        let plugins = plugins.map(|plugin| PluginLine::new(plugin, surroundings)).collect();
        Self { project, digest: brought.digest(), trusted, hooks, plugins }
    }

    pub(super) fn json(&self) -> ShownJson<'_> {
        let Self { project, digest, trusted, hooks, plugins } = self;
        ShownJson { project, digest: digest.to_string(), trusted: *trusted, hooks, plugins }
    }

    pub(super) fn page(&self) -> String {
        let project = printable_path(&self.project);
        if self.hooks.is_empty() && self.plugins.is_empty() {
            return format!("{HEAD}{project}{HEAD:#} brings nothing to run, so there is nothing to trust\n");
        }
        let mut page = format!("{HEAD}{project}{HEAD:#} would run\n\n");
        for hook in &self.hooks {
            hook.on(&mut page);
        }
        for plugin in &self.plugins {
            plugin.on(&mut page);
        }
        page.push_str(&format!(
            "{DIM}Not covered: what these programs and scripts load in turn, folders, and programs found by PATH.{DIM:#}\n\
             digest  {}\n",
            self.digest
        ));
        if self.trusted {
            page.push_str("trusted as it is now\n");
        }
        page
    }
}

/// The user's hook whose place this one takes.
fn replaced<'a>(hook: &BroughtHook, dropped: &'a [Dropped]) -> Option<&'a HookSpec> {
    let same = |drop: &&Dropped| {
        drop.source == Source::Settings(Scope::User)
            && drop.spec.event == hook.spec.event
            && drop.spec.name == hook.spec.name
            && matches!(drop.why, Why::Replaced { .. })
    };
    dropped.iter().find(same).map(|drop| &drop.spec)
}

fn limits(said: &LimitsSaid) -> Object {
    said.rows().into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

impl PluginLine {
    /// What a plugin brings replaces nobody.
    fn new(brought: &BroughtPlugin, surroundings: &Surroundings) -> Self {
        let BroughtPlugin { source, plugin, files, hooks, .. } = brought;
        Self {
            name: plugin.name.to_string(),
            source: source.to_string(),
            path: plugin.path.clone(),
            config: plugin.config.clone(),
            limits: limits(&plugin.given.limits),
            grants: permissions::json(&plugin.given.permissions),
            flags: permissions::flags(&plugin.given.permissions, surroundings),
            grant_rows: permissions::rows(&plugin.given.permissions),
            files: files.iter().map(FileLine::new).collect(),
            hooks: hooks.iter().map(|hook| Line::new(hook, None, surroundings)).collect(),
        }
    }

    /// The plugin with the hooks that its folder lists; which others it has, its code says when it is loaded.
    fn on(&self, page: &mut String) {
        let [name, source] = [&self.name, &self.source].map(|text| printable(text));
        page.push_str(&format!("{HEAD}plugin{HEAD:#} {name} {DIM}({source}, with all hooks it asks for){DIM:#}\n"));
        for (what, value) in self.rows() {
            page.push_str(&format!("  {what:<8} {}\n", printable(&value)));
        }
        page.push('\n');
        self.hooks.iter().for_each(|hook| hook.on(page));
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("plugin", self.path.display().to_string())];
        rows.extend(self.config.iter().map(|(key, value)| ("config", format!("{key} = {value}"))));
        rows.extend(self.limits.iter().map(|(key, value)| ("limits", format!("{key} = {value}"))));
        for (name, what) in &self.grant_rows {
            rows.extend(what.iter().map(|what| ("grants", format!("{name} {what}"))));
        }
        rows.extend(self.flags.iter().map(|flag| ("beware", flag.clone())));
        rows.extend(self.files.iter().map(|file| ("file", file.text())));
        rows
    }
}

impl Line {
    fn new(hook: &BroughtHook, replaced: Option<&HookSpec>, surroundings: &Surroundings) -> Self {
        let spec = &hook.spec;
        let mut line = Self {
            event: spec.event.to_string(),
            name: spec.name.to_string(),
            source: hook.source.to_string(),
            kind: spec.kind.name().as_str(),
            matcher: (!spec.matcher.is_everything()).then(|| spec.matcher.text().to_owned()),
            condition: spec.condition.as_ref().map(|condition| condition.text().to_owned()),
            command: None,
            args: None,
            text: None,
            asks: None,
            model: None,
            plugin: None,
            config: Object::new(),
            grants: Object::new(),
            limits: Object::new(),
            instance: None,
            flags: Vec::new(),
            grant_rows: Vec::new(),
            sets: Vec::new(),
            keeps: Vec::new(),
            files: hook.files.iter().map(FileLine::new).collect(),
            replaces: replaced.map(|spec| spec.place.to_string()),
        };
        line.runs(&spec.kind, surroundings);
        line
    }

    fn runs(&mut self, kind: &HookKind, surroundings: &Surroundings) {
        match kind {
            HookKind::Command(command) => {
                self.command = Some(command.command.clone());
                self.args = command.args.clone();
                match &command.env {
                    HookEnv::Keep(names) => self.keeps.clone_from(names),
                    HookEnv::Set(values) => self.sets.clone_from(values),
                }
            }
            HookKind::Callback(callback) => {
                self.plugin = Some(callback.plugin.clone());
                self.config = callback.config.clone();
                self.grants = permissions::json(&callback.grant);
                self.grant_rows = permissions::rows(&callback.grant);
                self.flags = permissions::flags(&callback.grant, surroundings);
                self.limits = limits(&callback.limits);
                self.instance = callback.instance.map(Lifetime::as_str);
            }
            HookKind::Inject(inject) => self.text = Some(inject.text.clone()),
            HookKind::Prompt(prompt) => {
                self.asks = Some(prompt.prompt.clone());
                self.model.clone_from(&prompt.model);
            }
            HookKind::Function(_) => {}
        }
    }

    /// Everything on lines of its own, in the words of the settings: nothing is cut.
    fn on(&self, page: &mut String) {
        let matcher = self.matcher.as_ref().map(|text| format!("matcher {text}"));
        let condition = self.condition.as_ref().map(|text| format!("if {text}"));
        let head: Vec<_> = [Some(self.source.clone()), matcher, condition].into_iter().flatten().collect();
        let [event, name, head] = [self.event.as_str(), &self.name, &head.join(", ")].map(printable);
        page.push_str(&format!("{HEAD}{event}{HEAD:#} {name} {DIM}({head}){DIM:#}\n"));
        for (what, value) in self.rows() {
            page.push_str(&format!("  {what:<8} {}\n", printable(&value)));
        }
        if let Some(place) = &self.replaces {
            page.push_str(&format!("  {WARNING}replaces{WARNING:#} your own hook at {}\n", printable(place)));
        }
        page.push('\n');
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        rows.extend(self.command.iter().map(|command| ("runs", command.clone())));
        rows.extend(self.args.iter().flatten().map(|arg| ("with", arg.clone())));
        rows.extend(self.text.iter().map(|text| ("says", text.clone())));
        rows.extend(self.asks.iter().map(|prompt| ("asks", prompt.clone())));
        rows.extend(self.model.iter().map(|model| ("model", model.clone())));
        rows.extend(self.plugin.iter().map(|path| ("plugin", path.display().to_string())));
        rows.extend(self.config.iter().map(|(key, value)| ("config", format!("{key} = {value}"))));
        for (name, what) in &self.grant_rows {
            rows.extend(what.iter().map(|what| ("grants", format!("{name} {what}"))));
        }
        rows.extend(self.limits.iter().map(|(name, value)| ("limits", format!("{name} {value}"))));
        rows.extend(self.instance.iter().map(|word| ("instance", (*word).to_owned())));
        rows.extend(self.flags.iter().map(|flag| ("beware", flag.clone())));
        rows.extend(self.sets.iter().map(|(name, value)| ("sets", format!("{name}={value}"))));
        rows.extend(self.keeps.iter().map(|name| ("reads", format!("{name} of your environment, secret or not"))));
        rows.extend(self.files.iter().map(|file| ("file", file.text())));
        rows
    }
}

impl FileLine {
    fn new(file: &NamedFile) -> Self {
        Self { path: file.path.clone(), sha256: file.digest.map(|digest| digest.to_string()) }
    }

    fn text(&self) -> String {
        let path = self.path.display();
        match &self.sha256 {
            Some(digest) => format!("{path} {digest}"),
            None => format!(
                "{path} cannot be read or is too large, by itself or with all the others, so this hook will not run"
            ),
        }
    }
}
