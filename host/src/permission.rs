//! What a plugin asks for and is granted: a struct for each permission, and what stands in both.
//!
//! Pure: a folder here is a name, not yet a place on the disk. Whether it is there, and where it really lies, is for
//! `wasm` to look at, so the folders of both sides are compared there. Reading these from files is for `wire`.

use std::fmt;
use std::path::{Path, PathBuf};

/// What a plugin asks for, or is granted. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Permissions {
    /// Folders that it may read.
    pub read: Folders,
    /// Folders that it may read and change.
    pub write: Folders,
    /// Variables of the host's environment that it may see.
    pub env: Variables,
    /// Hosts that it may send requests to. Nothing is sent in this version.
    pub http: Hosts,
    /// Programs that it may run.
    pub run: Programs,
    /// Whether its approvals count.
    pub approve: Approve,
}

impl Permissions {
    /// The same, and this folder may be read.
    #[must_use]
    pub fn reading(mut self, folder: Folder) -> Self {
        self.read.0.push(folder);
        self
    }

    /// The same, and this folder may be read and changed.
    #[must_use]
    pub fn writing(mut self, folder: Folder) -> Self {
        self.write.0.push(folder);
        self
    }

    /// The same, and this variable may be seen.
    #[must_use]
    pub fn seeing(mut self, variable: impl Into<String>) -> Self {
        self.env.0.push(variable.into());
        self
    }

    /// The same, and this program may be run: a bare name, which is looked up on `PATH`.
    #[must_use]
    pub fn running(mut self, program: impl Into<String>) -> Self {
        self.run.0.push(program.into());
        self
    }

    /// The same, and its approvals count.
    #[must_use]
    pub fn approving(mut self) -> Self {
        self.approve = Approve(true);
        self
    }

    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Permission to read, or to change, what lies in these folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Folders(pub Vec<Folder>);

/// Permission to see these variables of the host's environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variables(pub Vec<String>);

impl Variables {
    /// Whether it allows to see this one.
    pub fn allows(&self, name: &str) -> bool {
        self.0.iter().any(|one| one == name)
    }

    /// What stands in both.
    #[must_use]
    pub fn narrowed(&self, to: &Self) -> Self {
        Self(self.0.iter().filter(|name| to.allows(name)).cloned().collect())
    }
}

/// Permission to run these programs, by bare name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Programs(pub Vec<String>);

/// Programs that run what they are given, beside the shells and interpreters.
const RUN_OTHER_CODE: [&str; 39] = [
    "git",
    "make",
    "npm",
    "npx",
    "cargo",
    "find",
    "xargs",
    "env",
    "tar",
    "ssh",
    "docker",
    "kubectl",
    "sh",
    "bash",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "pwsh",
    "powershell",
    "python",
    "python2",
    "python3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "bunx",
    "tsx",
    "uv",
    "ruby",
    "perl",
    "php",
    "lua",
    "awk",
    "sed",
    "sudo",
    "nohup",
    "busybox",
];

impl Programs {
    /// Whether it allows to run this one. A name with a folder in it is none.
    pub fn allows(&self, program: &str) -> bool {
        is_bare_name(program) && self.0.iter().any(|one| one == program)
    }

    /// What stands in both.
    #[must_use]
    pub fn narrowed(&self, to: &Self) -> Self {
        Self(self.0.iter().filter(|name| to.allows(name)).cloned().collect())
    }

    /// Whether to grant this program is to grant whatever code it is told to run.
    pub fn runs_other_code(program: &str) -> bool {
        // `python3.12` is a `python3`.
        let plain = program.split_once('.').map_or(program, |(name, _)| name);
        RUN_OTHER_CODE.contains(&plain)
    }
}

/// Whether a name is that of a program alone: without a folder, and not empty.
pub fn is_bare_name(program: &str) -> bool {
    !matches!(program, "" | "." | "..") && !program.contains(['/', '\\', '\0'])
}

/// Permission to send requests to these hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hosts(pub Vec<Host>);

/// A host on the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// Its name or address, in lower case.
    pub name: String,
    /// Whether its subdomains are meant instead of it.
    pub subdomains: bool,
    /// The port, where not every port is meant.
    pub port: Option<u16>,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.subdomains { "*." } else { "" };
        write!(f, "{star}{}", self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Permission to approve: without it, an `allow` is no opinion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Approve(pub bool);

impl Approve {
    /// What stands in both.
    #[must_use]
    pub fn narrowed(self, to: Self) -> Self {
        Self(self.0 && to.0)
    }
}

/// A folder, as a permission names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Folder {
    /// Where its path starts.
    pub start: Start,
    /// How it goes on from there: relative, without `.` and `..`. Empty is the start itself.
    pub below: PathBuf,
}

/// Where the path of a folder starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// `/`.
    Root,
    /// `~`: the person's home.
    Home,
    /// `${project}`.
    Project,
    /// `${plugin}`: the folder of its package.
    Plugin,
    /// `${data}`: a folder of the plugin's own.
    Data,
}

impl Start {
    /// As files write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Root => "/",
            Self::Home => "~",
            Self::Project => "${project}",
            Self::Plugin => "${plugin}",
            Self::Data => "${data}",
        }
    }
}

impl Folder {
    /// Where a path starts.
    pub fn at(start: Start) -> Self {
        Self { start, below: PathBuf::new() }
    }

    /// The project's folder.
    pub fn project() -> Self {
        Self::at(Start::Project)
    }

    /// The folder of the plugin's package.
    pub fn plugin() -> Self {
        Self::at(Start::Plugin)
    }

    /// The plugin's own folder.
    pub fn data() -> Self {
        Self::at(Start::Data)
    }

    /// An absolute path; `None` for any other.
    pub fn absolute(path: impl AsRef<Path>) -> Option<Self> {
        let below = crate::text::normal(path.as_ref()).strip_prefix("/").ok()?.to_owned();
        Some(Self { start: Start::Root, below })
    }

    /// A folder in it; `None` where that leads out of it.
    pub fn below(&self, path: impl AsRef<Path>) -> Option<Self> {
        let path = crate::text::normal(path.as_ref());
        let leads_out = path.is_absolute() || path.starts_with("..");
        (!leads_out).then(|| Self { start: self.start, below: crate::text::normal(&self.below.join(path)) })
    }

    /// Its path, where it starts at `start`.
    pub fn from(&self, start: &Path) -> PathBuf {
        if self.below.as_os_str().is_empty() { start.to_owned() } else { start.join(&self.below) }
    }

    /// Whether what others run may lie in it: it holds the project, the home or everything, or lies where an agent or
    /// git finds what to run.
    pub fn can_hold_what_others_run(&self, home: Option<&Path>, project: Option<&Path>) -> bool {
        let path = match self.start {
            Start::Root => self.from(Path::new("/")),
            Start::Home => match home {
                Some(home) => self.from(home),
                None => return true,
            },
            Start::Project if self.below.as_os_str().is_empty() => return true,
            Start::Project => match project {
                Some(project) => self.from(project),
                None => self.below.clone(),
            },
            Start::Plugin => return true,
            Start::Data => return false,
        };
        let runs = |part: std::path::Component<'_>| WHERE_OTHERS_LOOK.iter().any(|name| part.as_os_str() == *name);
        path.components().any(runs) || [home, project].into_iter().flatten().any(|held| held.starts_with(&path))
    }
}

/// Folders from which agents and git take what they run.
const WHERE_OTHERS_LOOK: [&str; 3] = [".git", ".freecode", ".claude"];

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.start, self.below.as_os_str().is_empty()) {
            (Start::Root, _) => write!(f, "/{}", self.below.display()),
            (start, true) => f.write_str(start.as_str()),
            (start, false) => write!(f, "{}/{}", start.as_str(), self.below.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_both_is_what_stands_in_each() {
        let asks = Permissions::default().seeing("A").seeing("B").running("git").running("./x").approving();
        let grants = Permissions::default().seeing("B").seeing("C").running("./x").running("jq");
        assert_eq!(asks.env.narrowed(&grants.env), Variables(vec!["B".into()]));
        assert_eq!(asks.run.narrowed(&grants.run), Programs(vec![]));
        assert_eq!(asks.approve.narrowed(grants.approve), Approve(false));
        assert_eq!(asks.approve.narrowed(asks.approve), Approve(true));
        for (asked, granted) in [(&asks, &Permissions::default()), (&Permissions::default(), &asks)] {
            assert_eq!(asked.env.narrowed(&granted.env), Variables::default());
            assert_eq!(asked.run.narrowed(&granted.run), Programs::default());
            assert_eq!(asked.approve.narrowed(granted.approve), Approve(false));
        }
    }

    #[test]
    fn only_a_bare_name_is_a_program() {
        let odd = ["", ".", "..", "/bin/sh", "./sh", "a/b", "a\\b", "a\0b", "sh/"];
        let granted = Programs(odd.iter().map(|name| (*name).to_owned()).chain(["sh".to_owned()]).collect());
        for name in odd {
            assert!(!granted.allows(name), "{name:?}");
        }
        assert!(granted.allows("sh") && !granted.allows("SH") && !granted.allows("sh "));
    }

    #[test]
    fn a_folder_below_another_stays_there() {
        let project = Folder::project();
        assert_eq!(project.below("a/./b/../c").map(|folder| folder.to_string()).as_deref(), Some("${project}/a/c"));
        assert_eq!(project.below(".").map(|folder| folder.to_string()).as_deref(), Some("${project}"));
        for out in ["..", "a/../..", "/etc", "../project"] {
            assert_eq!(project.below(out), None, "{out}");
        }
        assert_eq!(Folder::absolute("/a/../../b").map(|folder| folder.to_string()).as_deref(), Some("/b"));
        assert_eq!(Folder::absolute("b"), None);
    }

    #[test]
    fn a_folder_that_holds_what_others_run_is_flagged() {
        let flagged = |folder: Option<Folder>| {
            folder.unwrap().can_hold_what_others_run(Some(Path::new("/h/me")), Some(Path::new("/h/me/p")))
        };
        for folder in
            ["/", "/h", "/h/me", "/h/me/p", "/h/me/p/.git", "/h/me/p/.git/hooks", "/h/me/.claude", "/x/.freecode"]
        {
            assert!(flagged(Folder::absolute(folder)), "{folder}");
        }
        for folder in ["/h/me/p/out", "/tmp", "/h/me/.cache"] {
            assert!(!flagged(Folder::absolute(folder)), "{folder}");
        }
        assert!(flagged(Some(Folder::project())) && flagged(Folder::project().below(".git")));
        assert!(flagged(Some(Folder::at(Start::Home))) && flagged(Some(Folder::plugin())));
        assert!(!flagged(Folder::project().below("out")) && !flagged(Some(Folder::data())));
    }

    #[test]
    fn programs_that_run_other_code_are_flagged() {
        for name in ["git", "bash", "python3.12", "find", "kubectl"] {
            assert!(Programs::runs_other_code(name), "{name}");
        }
        for name in ["jq", "rg", "gitk", "rtk"] {
            assert!(!Programs::runs_other_code(name), "{name}");
        }
    }
}
