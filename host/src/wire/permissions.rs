//! Permissions as files write them: `permissions` of a `plugin.json`, `grant` of a settings entry.
//!
//! Owns their text. What is wrong in it is left out, aloud: a slip never widens anything.

use std::path::Path;

use jsonc_parser::ast::{self, Value};
use jsonc_parser::common::Ranged;

use super::document::{Quoted, did_you_mean, found, repeated};
use super::hooks::{Origin, Site};
use crate::permission::{Approve, Folder, Folders, Host, Hosts, Permissions, Programs, Start, Variables, is_bare_name};

/// The permissions there are.
pub(crate) const NAMES: [&str; 6] = ["read", "write", "env", "http", "run", "approve"];

/// What a path of these may start with.
const STARTS: [(&str, Start); 6] = [
    ("~", Start::Home),
    ("${project}", Start::Project),
    ("${plugin}", Start::Plugin),
    ("${data}", Start::Data),
    ("${CLAUDE_PROJECT_DIR}", Start::Project),
    ("${CLAUDE_PLUGIN_ROOT}", Start::Plugin),
];

/// Whose word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The package's: it asks.
    Requested,
    /// The user's or the project's: they grant.
    Granted,
}

/// What is to be said about a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    /// On which line.
    pub(crate) line: usize,
    /// What.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

/// Reads what stands under `key`.
pub(crate) fn read(key: &str, value: &Value<'_>, word: Word, site: &Site<'_>) -> (Permissions, Vec<Remark>) {
    let mut reader = Reader { key, site, remarks: Vec::new() };
    let permissions = match value {
        Value::Object(object) => reader.object(object),
        other => {
            let nothing = if word == Word::Granted { "nothing is granted" } else { "nothing is asked for" };
            reader.say(other, format!("`{key}` must be an object, found {}; {nothing}", found(other)));
            Permissions::default()
        }
    };
    (permissions, reader.remarks)
}

struct Reader<'r> {
    key: &'r str,
    site: &'r Site<'r>,
    remarks: Vec<Remark>,
}

impl Reader<'_> {
    fn object(&mut self, object: &ast::Object<'_>) -> Permissions {
        for again in repeated(object) {
            self.say(again, format!("{} is written twice; the last one counts", Quoted(again.name.as_str())));
        }
        let mut permissions = Permissions::default();
        // In their order, so that the last of a name counts.
        for ast::ObjectProp { name, value, .. } in &object.properties {
            match name.as_str() {
                "read" => permissions.read = Folders(self.folders("read", value)),
                "write" => permissions.write = Folders(self.folders("write", value)),
                "env" => permissions.env = Variables(self.each("env", value, variable)),
                "run" => permissions.run = Programs(self.each("run", value, program)),
                "http" => permissions.http = Hosts(self.each("http", value, host)),
                "approve" => permissions.approve = self.approve(value),
                other => {
                    let message = format!("`{}`: unknown permission {}", self.key, Quoted(other));
                    self.remark(value, message, did_you_mean(other, NAMES));
                }
            }
        }
        permissions
    }

    fn folders(&mut self, name: &str, value: &Value<'_>) -> Vec<Folder> {
        let site = self.site;
        self.each(name, value, |text| folder(text, site))
    }

    fn approve(&mut self, value: &Value<'_>) -> Approve {
        if let Value::BooleanLit(flag) = value {
            return Approve(flag.value);
        }
        let message =
            format!("`{}`: `approve` must be true or false, found {}; false is taken", self.key, found(value));
        self.say(value, message);
        Approve(false)
    }

    /// The elements of a list of strings, each once; one that is wrong is left out.
    fn each<T: PartialEq>(
        &mut self,
        name: &str,
        value: &Value<'_>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let key = self.key;
        let Value::Array(list) = value else {
            let message =
                format!("`{key}`: `{name}` must be a list of strings, found {}; it is left out", found(value));
            self.say(value, message);
            return Vec::new();
        };
        let mut all = Vec::new();
        for element in &list.elements {
            let one = match element {
                Value::StringLit(text) => read(&text.value).map_err(|why| format!("{} {why}", Quoted(&text.value))),
                other => Err(format!("{} is no string", found(other))),
            };
            match one {
                Ok(one) if all.contains(&one) => {}
                Ok(one) => all.push(one),
                Err(why) => self.say(element, format!("`{key}`: `{name}`: {why}; it is left out")),
            }
        }
        all
    }

    fn say(&mut self, node: &impl Ranged, message: String) {
        self.remark(node, message, None);
    }

    fn remark(&mut self, node: &impl Ranged, message: String, hint: Option<String>) {
        self.remarks.push(Remark { line: self.site.lines.of_node(node), message, hint });
    }
}

fn folder(text: &str, site: &Site<'_>) -> Result<Folder, String> {
    if text.trim().is_empty() || text.contains('\0') {
        return Err("names no folder".to_owned());
    }
    let (first, rest) = text.split_once('/').unwrap_or((text, ""));
    let known = STARTS.into_iter().find(|(name, _)| *name == first);
    if known.map_or(text, |_| rest).contains("${") {
        return Err("holds a variable that is not known there; `${project}`, `${plugin}`, `${data}` and `~` are, at \
                    its start"
            .to_owned());
    }
    let (start, below) = match known {
        // `~//x` is below home: a second slash must not make the rest absolute.
        Some((_, start)) => (Folder::at(start), Path::new(rest.trim_start_matches('/'))),
        None if site.origin == Origin::Package && !text.starts_with('/') => (Folder::plugin(), Path::new(text)),
        None => {
            let path = site.bases.folder.join(text);
            return Folder::absolute(path).ok_or_else(|| "is relative, and so is the file's own folder".to_owned());
        }
    };
    start.below(below).ok_or_else(|| format!("leads out of `{}`", start.start.as_str()))
}

fn variable(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(['=', '\0']) {
        true => Err("is no name of a variable".to_owned()),
        false => Ok(text.to_owned()),
    }
}

fn program(text: &str) -> Result<String, String> {
    match is_bare_name(text) {
        true => Ok(text.to_owned()),
        false => Err("is no bare name of a program".to_owned()),
    }
}

fn host(text: &str) -> Result<Host, String> {
    Host::parse(text).ok_or_else(|| {
        "is no host: write `example.com`, `*.example.com`, `example.com:8080` or an address, one of IPv6 in brackets"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::document::Document;
    use super::super::path::Bases;
    use super::*;
    use crate::event::Events;
    use crate::source::Scope;

    fn read_as(text: &str, origin: Origin, word: Word) -> (Permissions, Vec<String>) {
        let document = Document::read(text.as_bytes()).unwrap();
        let bases = Bases { folder: Path::new("/p/.freecode"), home: None, project: None, package: None };
        let events = Events::default();
        let site = Site { file: Path::new("/p/.freecode/s"), lines: &document.lines, origin, events: &events, bases };
        let (permissions, remarks) = read("grant", &document.root, word, &site);
        let said = remarks.into_iter().map(|remark| match remark.hint {
            Some(hint) => format!("{} ({hint})", remark.message),
            None => remark.message,
        });
        (permissions, said.collect())
    }

    fn granted(text: &str) -> (Permissions, Vec<String>) {
        read_as(text, Origin::Settings(Scope::User), Word::Granted)
    }

    fn shown(folders: &Folders) -> Vec<String> {
        folders.0.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_whole_grant_is_read() {
        let (read, said) = granted(
            r#"{"read": ["${project}", "/etc//ssl/../x", "~/a", "~//b", "data", "../x", "${CLAUDE_PROJECT_DIR}", "${data}/c"],
            "write": ["${plugin}/o"], "env": ["A", "A"], "run": ["git"], "approve": true}"#,
        );
        assert_eq!(said, [""; 0]);
        let folders = ["${project}", "/etc/x", "~/a", "~/b", "/p/.freecode/data", "/p/x", "${data}/c"];
        assert_eq!(shown(&read.read), folders);
        assert_eq!(shown(&read.write), ["${plugin}/o"]);
        assert_eq!((read.env.0.as_slice(), read.run.0.as_slice()), (&["A".into()][..], &["git".into()][..]));
        assert_eq!(read.approve, Approve(true));
    }

    #[test]
    fn a_package_asks_from_its_own_folder() {
        let (read, said) = read_as(r#"{"read": ["x", "./y", "/z"]}"#, Origin::Package, Word::Requested);
        assert_eq!((shown(&read.read), said), (vec!["${plugin}/x".into(), "${plugin}/y".into(), "/z".into()], vec![]));
        assert_eq!(Folder::plugin().from(Path::new("/q")), PathBuf::from("/q"));
    }

    #[test]
    fn what_is_wrong_is_left_out_and_never_widens() {
        for (text, words) in [
            (r#"["git"]"#, "`grant` must be an object, found a list; nothing is granted"),
            (r#"true"#, "nothing is granted"),
            (r#"{"raed": ["/"]}"#, "unknown permission `raed` (did you mean `read`?)"),
            (r#"{"Run": ["git"]}"#, "unknown permission `Run`"),
            (r#"{"run": "git"}"#, "`run` must be a list of strings, found a string; it is left out"),
            (r#"{"run": true}"#, "`run` must be a list"),
            (r#"{"run": {"git": true}}"#, "`run` must be a list"),
            (r#"{"run": ["/bin/sh"]}"#, "`/bin/sh` is no bare name"),
            (r#"{"run": ["./sh"]}"#, "is no bare name"),
            (r#"{"run": [""]}"#, "is no bare name"),
            (r#"{"run": [".."]}"#, "is no bare name"),
            (r#"{"run": [1]}"#, "a number is no string"),
            (r#"{"env": ["A=b"]}"#, "is no name of a variable"),
            (r#"{"env": [""]}"#, "is no name of a variable"),
            (r#"{"approve": "true"}"#, "`approve` must be true or false, found a string; false is taken"),
            (r#"{"approve": 1}"#, "`approve` must be true or false"),
            (r#"{"read": [""]}"#, "names no folder"),
            (r#"{"read": ["${project}/.."]}"#, "leads out of `${project}`"),
            (r#"{"read": ["${data}/../x"]}"#, "leads out of `${data}`"),
            (r#"{"read": ["~/../x"]}"#, "leads out of `~`"),
            (r#"{"read": ["${HOME}"]}"#, "a variable that is not known"),
            (r#"{"read": ["${project}/${data}"]}"#, "a variable that is not known"),
            (r#"{"read": ["x${project}"]}"#, "a variable that is not known"),
            (r#"{"http": ["https://example.com"]}"#, "is no host: write `example.com`"),
            (r#"{"http": ["127.1"]}"#, "is no host"),
            (r#"{"http": "*"}"#, "`http` must be a list of strings"),
        ] {
            let (read, said) = granted(text);
            assert!(read.is_empty(), "{text}: {read:?}");
            assert!(said.len() == 1 && said[0].contains(words), "{text}: {said:?}");
        }
        let (read, said) = granted(r#"{"run": ["git"], "run": []}"#);
        assert!(read.is_empty() && said.len() == 1, "{read:?} {said:?}");
    }

    #[test]
    fn hosts_are_read_in_each_form() {
        let asked = |text: &str| {
            let (read, said) = granted(text);
            (read.http.0.iter().map(ToString::to_string).collect::<Vec<_>>(), said.len())
        };
        let hosts = asked(r#"{"http": ["Example.com", "*.example.com:8080", "127.0.0.1:1", "[::0:1]:2"]}"#);
        let read = ["example.com", "*.example.com:8080", "127.0.0.1:1", "[::1]:2"].map(str::to_owned).to_vec();
        assert_eq!(hosts, (read, 0));
        assert_eq!(asked(r#"{"http": ["https://a", "", "*", "a..b", "a:0", "a:x", "a b", "*.*.a"]}"#), (vec![], 8));
    }
}
