//! The small world of one plugin: the interfaces that its source names, and the one that it exports.
//!
//! The tools of some languages put every interface of a world into the component, used or not. With a world of the plugin's own
//! its imports say what it can ask for.

use std::collections::BTreeSet;

use super::super::build::Workshop;

/// Where the world lies in a project; its name is [`NAME`].
pub(super) const FOLDER: &str = "build/wit";

/// The world's name.
pub(super) const NAME: &str = "plugin";

/// The interfaces that it is made of.
const HOOKS: &str = include_str!("../../../../../wit/v0.1/hooks.wit");

/// What a plugin may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Interface {
    Config,
    Log,
    Process,
    State,
}

impl Interface {
    /// All.
    pub(super) const ALL: [Self; 4] = [Self::Config, Self::Log, Self::Process, Self::State];

    /// As the interface is called in a world.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Log => "log",
            Self::Process => "process",
            Self::State => "state",
        }
    }

    /// As it is called everywhere.
    pub(super) fn full_name(self) -> String {
        format!("tacklebox:hooks/{}@0.1.0", self.name())
    }
}

/// Writes the world with these imports.
pub(super) fn lay(workshop: &Workshop, imports: &BTreeSet<Interface>) -> anyhow::Result<()> {
    workshop.lay(&format!("{FOLDER}/deps/hooks/hooks.wit"), HOOKS)?;
    workshop.lay(&format!("{FOLDER}/plugin.wit"), &text(imports))
}

fn text(imports: &BTreeSet<Interface>) -> String {
    let imports: String = imports.iter().map(|one| format!("  import {};\n", one.full_name())).collect();
    format!("package this:plugin;\n\nworld {NAME} {{\n{imports}  export tacklebox:hooks/callback@0.1.0;\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_world_has_what_was_named_and_no_more() {
        let world = text(&BTreeSet::from([Interface::State, Interface::Log]));
        let lines: Vec<_> = world.lines().filter(|line| line.starts_with("  ")).map(str::trim).collect();
        let expected = [
            "import tacklebox:hooks/log@0.1.0;",
            "import tacklebox:hooks/state@0.1.0;",
            "export tacklebox:hooks/callback@0.1.0;",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn every_import_of_the_interface_can_be_named() {
        let imports = HOOKS.lines().filter_map(|line| line.trim().strip_prefix("import "));
        let mut imports: Vec<_> = imports.map(|name| name.trim_end_matches(';')).collect();
        imports.sort_unstable();
        assert_eq!(imports, Interface::ALL.map(Interface::name));
        assert!(HOOKS.starts_with("package tacklebox:hooks@0.1.0;"));
    }
}
