//! What a plugin asks for and is granted: a struct for each permission, and what stands in both.
//!
//! Pure: a folder here is a name, not yet a place on the disk. Whether it is there, and where it really lies, is for
//! `wasm` to look at, so the folders of both sides are compared there. Reading these from files is for `wire`.

// Addresses alone: in `std` the network stands beside them.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
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
    /// Hosts that it may send requests to.
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

    /// The same, and requests may be sent to this host.
    #[must_use]
    pub fn sending(mut self, host: Host) -> Self {
        self.http.0.push(host);
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

impl Hosts {
    /// Whether some host of these is at `target`.
    pub fn covers(&self, target: &Target) -> bool {
        self.0.iter().any(|host| host.covers(target))
    }

    /// Whether it is one of these by its own name or address, not as somebody's subdomain.
    pub fn names(&self, target: &Target) -> bool {
        self.0.iter().any(|host| !host.subdomains && host.covers(target))
    }

    /// Whether something can be both `host` and one of these.
    pub fn meets(&self, host: &Host) -> bool {
        self.0.iter().any(|one| one.meets(host))
    }
}

/// A host on the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// Its name or address, as [`Host::parse`] gives it.
    pub name: String,
    /// Whether its subdomains are meant instead of it.
    pub subdomains: bool,
    /// The port; without one, that of the scheme: 80 or 443.
    pub port: Option<u16>,
}

impl Host {
    /// From `example.com`, `*.example.com`, `127.0.0.1` or `[::1]`, each with or without `:port`; `None` for anything else.
    /// A name with other letters than ASCII's is written in its `xn--` form.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, Some(parsed_port(port)?)),
            _ => (text, None),
        };
        match name.strip_prefix("*.") {
            Some(name) => {
                let name = plain_name(name).filter(|name| name.parse::<Ipv4Addr>().is_err())?;
                Some(Self { name, subdomains: true, port })
            }
            None => Some(Self { name: plain_host(name)?, subdomains: false, port }),
        }
    }

    fn covers(&self, target: &Target) -> bool {
        let name = match self.subdomains {
            true => target.address().is_none() && is_below(&target.host, &self.name),
            false => target.host == self.name,
        };
        name && target.port == self.port.unwrap_or(Target::usual_port(target.secure))
    }

    fn meets(&self, other: &Self) -> bool {
        let name = match (self.subdomains, other.subdomains) {
            (false, false) => self.name == other.name,
            (true, false) => is_below(&other.name, &self.name),
            (false, true) => is_below(&self.name, &other.name),
            (true, true) => {
                self.name == other.name || is_below(&self.name, &other.name) || is_below(&other.name, &self.name)
            }
        };
        let usual = |port: u16| [false, true].map(Target::usual_port).contains(&port);
        let port = match (self.port, other.port) {
            (Some(one), Some(other)) => one == other,
            (Some(port), None) | (None, Some(port)) => usual(port),
            (None, None) => true,
        };
        name && port
    }
}

fn parsed_port(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

fn is_below(name: &str, above: &str) -> bool {
    name.strip_suffix(above).is_some_and(|first| first.ends_with('.') && first.len() > 1)
}

/// A name or an address in the one form that is compared.
fn plain_host(text: &str) -> Option<String> {
    match text.strip_prefix('[') {
        Some(rest) => Some(rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?.to_string()),
        None => plain_name(text),
    }
}

/// In lower case, without the dot of the root. What systems take for an address in some old form (`127.1`, `0x7f.1`) is
/// neither a name nor an address.
fn plain_name(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let last = name.rsplit('.').next().unwrap_or_default();
    let number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    let right = name.len() <= 253 && name.split('.').all(label) && (!number || name.parse::<Ipv4Addr>().is_ok());
    right.then_some(name)
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    host: String,
    port: u16,
    secure: bool,
}

impl Target {
    /// This host, by name or address (one of IPv6 in brackets), at this port, over TLS where it is `secure`; `None` where
    /// that is no host.
    pub fn of(host: &str, port: u16, secure: bool) -> Option<Self> {
        (port != 0).then_some(Self { host: plain_host(host)?, port, secure })
    }

    /// The port that a scheme means where none is written.
    pub fn usual_port(secure: bool) -> u16 {
        if secure { 443 } else { 80 }
    }

    /// Its name or address, in the form that is compared.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Its address, where it is named by that.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is reached over TLS.
    pub fn secure(&self) -> bool {
        self.secure
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.subdomains { "*." } else { "" };
        match self.name.contains(':') {
            true => write!(f, "[{}]", self.name)?,
            false => write!(f, "{star}{}", self.name)?,
        }
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

    fn host(text: &str) -> Host {
        Host::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    fn target(text: &str, secure: bool) -> Target {
        let Host { name, port, .. } = host(text);
        let name = if name.contains(':') { format!("[{name}]") } else { name };
        Target::of(&name, port.unwrap_or(Target::usual_port(secure)), secure).unwrap()
    }

    #[test]
    fn a_host_covers_itself_at_its_port_and_a_star_its_subdomains_alone() {
        for (granted, reached, secure, covered) in [
            ("example.com", "EXAMPLE.com.", true, true),
            ("example.com", "example.com", false, true),
            ("example.com", "example.com:8080", true, false),
            ("example.com", "example.com:443", false, false),
            ("example.com:443", "example.com:443", false, true),
            ("example.com:8080", "example.com", false, false),
            ("example.com", "a.example.com", true, false),
            ("*.example.com", "a.b.example.com", true, true),
            ("*.example.com", "example.com", true, false),
            ("*.example.com", "badexample.com", true, false),
            ("*.example.com", "example.com.evil.org", true, false),
            ("127.0.0.1:80", "127.0.0.1", false, true),
            ("localhost:80", "127.0.0.1", false, false),
            ("[0:0::1]:81", "[::1]:81", false, true),
            ("*.0.1", "127.0.0.1", false, false),
        ] {
            let covers = Host::parse(granted).is_some_and(|host| host.covers(&target(reached, secure)));
            assert_eq!(covers, covered, "{granted} {reached} {secure}");
        }
    }

    #[test]
    fn an_address_in_an_odd_form_is_no_host() {
        for text in
            ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "1.2.3.4.5", "::1", "[::1", "[::1%eth0]", "a..b", ".", ""]
        {
            assert_eq!(Host::parse(text), None, "{text}");
            assert_eq!(Target::of(text, 80, false), None, "{text}");
        }
        for text in
            ["a:0", "a:+80", "a:", "a:65536", "*.127.0.0.1", "*", "*.", "https://a", "a/b", "a@b", "m\u{fc}ll.de"]
        {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn two_hosts_meet_where_something_can_be_both() {
        for (one, other, meet) in [
            ("a.b", "a.b", true),
            ("*.b", "a.b", true),
            ("*.b", "b", false),
            ("*.b", "*.a.b", true),
            ("*.b", "*.c", false),
            ("a.b", "a.b:443", true),
            ("a.b", "a.b:81", false),
            ("a.b:80", "a.b:81", false),
        ] {
            assert_eq!((host(one).meets(&host(other)), host(other).meets(&host(one))), (meet, meet), "{one} {other}");
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
