//! Who brought a hook, and the order in which the sources are asked (HOOKS.md, 6 and 8).
//! What a source may do is for `policy` to say.

use std::fmt;
use std::str::FromStr;

use crate::id::SessionId;

/// Which settings file a hook stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The person's own, in the home folder.
    User,
    /// The project's, which travels with the repository.
    Project,
    /// The person's own for this project.
    Local,
}

/// Who brought a hook.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The administrator.
    Managed,
    /// The embedder's own code.
    Sdk,
    /// A settings file.
    Settings(Scope),
    /// A plugin, by its id.
    Plugin(String),
    /// A skill, by its id.
    Skill(String),
    /// One session.
    Session(SessionId),
}

/// Sources of one kind, whoever they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// See [`Source::Managed`].
    Managed,
    /// See [`Source::Sdk`].
    Sdk,
    /// See [`Source::Settings`].
    Settings,
    /// See [`Source::Plugin`].
    Plugin,
    /// See [`Source::Skill`].
    Skill,
    /// See [`Source::Session`].
    Session,
}

impl Source {
    /// What kind of source it is.
    pub fn kind(&self) -> SourceKind {
        match self {
            Self::Managed => SourceKind::Managed,
            Self::Sdk => SourceKind::Sdk,
            Self::Settings(_) => SourceKind::Settings,
            Self::Plugin(_) => SourceKind::Plugin,
            Self::Skill(_) => SourceKind::Skill,
            Self::Session(_) => SourceKind::Session,
        }
    }

    /// Where its hooks stand among those of others: smaller is asked first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Managed => 0,
            Self::Sdk => 1,
            Self::Settings(Scope::User) => 2,
            Self::Settings(Scope::Project) => 3,
            Self::Settings(Scope::Local) => 4,
            Self::Plugin(_) => 5,
            Self::Skill(_) => 6,
            Self::Session(_) => 7,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Managed => f.write_str("managed"),
            Self::Sdk => f.write_str("sdk"),
            Self::Settings(Scope::User) => f.write_str("user"),
            Self::Settings(Scope::Project) => f.write_str("project"),
            Self::Settings(Scope::Local) => f.write_str("local"),
            Self::Plugin(id) => write!(f, "plugin:{id}"),
            Self::Skill(id) => write!(f, "skill:{id}"),
            Self::Session(id) => write!(f, "session:{id}"),
        }
    }
}

/// A text that names no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no source: expected `managed`, `sdk`, `user`, `project`, `local`, `plugin:ID`, `skill:ID` or `session:ID`"
)]
pub struct UnknownSource(String);

impl FromStr for Source {
    type Err = UnknownSource;

    fn from_str(text: &str) -> Result<Self, UnknownSource> {
        match (text, text.split_once(':')) {
            ("managed", _) => Ok(Self::Managed),
            ("sdk", _) => Ok(Self::Sdk),
            ("user", _) => Ok(Self::Settings(Scope::User)),
            ("project", _) => Ok(Self::Settings(Scope::Project)),
            ("local", _) => Ok(Self::Settings(Scope::Local)),
            (_, Some(("plugin", id))) if !id.is_empty() => Ok(Self::Plugin(id.to_owned())),
            (_, Some(("skill", id))) if !id.is_empty() => Ok(Self::Skill(id.to_owned())),
            (_, Some(("session", id))) if !id.is_empty() => Ok(Self::Session(id.into())),
            _ => Err(UnknownSource(text.to_owned())),
        }
    }
}

/// Which sources an `unregister_all` means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sources {
    /// This one.
    One(Source),
    /// All of this kind.
    Kind(SourceKind),
}

impl Sources {
    /// Whether `source` is meant.
    pub fn covers(&self, source: &Source) -> bool {
        match self {
            Self::One(one) => one == source,
            Self::Kind(kind) => *kind == source.kind(),
        }
    }
}

impl From<Source> for Sources {
    fn from(source: Source) -> Self {
        Self::One(source)
    }
}

impl From<SourceKind> for Sources {
    fn from(kind: SourceKind) -> Self {
        Self::Kind(kind)
    }
}

/// In which sessions a registered set is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// In every session of the host.
    #[default]
    Everywhere,
    /// In this session alone, not in those of its sub-agents.
    Session(SessionId),
    /// In this session and all that have it as their root.
    Tree(SessionId),
}

impl Reach {
    /// Whether a set that reaches so far ends with `session`.
    pub fn ends_with(&self, session: &SessionId) -> bool {
        match self {
            Self::Everywhere => false,
            Self::Session(one) | Self::Tree(one) => one == session,
        }
    }

    /// Whether a dispatch of `session`, under `root`, is reached.
    pub fn covers(&self, session: &SessionId, root: &SessionId) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Session(one) => one == session,
            Self::Tree(one) => one == session || one == root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_reads_back_as_it_is_written() {
        let all = [
            Source::Managed,
            Source::Sdk,
            Source::Settings(Scope::User),
            Source::Settings(Scope::Project),
            Source::Settings(Scope::Local),
            Source::Plugin("a:b".into()),
            Source::Skill("s".into()),
            Source::Session("s1".into()),
        ];
        for (rank, source) in all.iter().enumerate() {
            assert_eq!(source.to_string().parse::<Source>().as_ref(), Ok(source));
            assert_eq!(usize::from(source.rank()), rank);
        }
        assert!("plugin:".parse::<Source>().is_err());
        assert!("team".parse::<Source>().is_err());
    }

    #[test]
    fn a_session_reaches_no_sibling_and_no_child() {
        let reach = Reach::Session("child".into());
        assert!(reach.covers(&"child".into(), &"root".into()));
        assert!(!reach.covers(&"root".into(), &"root".into()));
        assert!(!reach.covers(&"sibling".into(), &"root".into()));
        let tree = Reach::Tree("root".into());
        assert!(tree.covers(&"child".into(), &"root".into()));
        assert!(!tree.covers(&"child".into(), &"other".into()));
    }
}
