//! What a plugin reaches of the machine: what was asked for and granted, and nothing beside it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::asking::{Asking, binary, plugins};
use super::reaching::{
    Deed, NO_ENTRY, NO_FOLDER, NOT_PERMITTED, connecting, looking_up, reaching, reaching_early, seeing, try_on,
};
use crate::outcome::Outcome;
use crate::permission::{Folder, Host, Permissions, Start};
use crate::plugin::{Code, Terms};
use crate::source::Source;
use crate::surroundings::Surroundings;
use crate::wasm::{Limits, Owner, Plugins};

/// A project with a file in it, beside a folder that is nobody's business.
struct World {
    root: TempDir,
    surroundings: Surroundings,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["project/src", "secret", "home", "package"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let project = Some(root.path().join("project"));
        let surroundings = Surroundings { home: Some(root.path().join("home")), project, ..Surroundings::default() };
        let world = Self { root, surroundings };
        world.lay("project/file", "of the project");
        world.lay("project/src/file", "of src");
        world.lay("secret/file", "secret");
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    #[expect(clippy::disallowed_methods, reason = "a test lays its own files")]
    fn lay(&self, path: &str, text: &str) {
        std::fs::write(self.at(path), text).unwrap();
    }

    fn text(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.at(path)).ok()
    }

    fn terms(&self, requested: Option<Permissions>, granted: Permissions) -> Terms {
        Terms { requested, granted, package: Some(self.at("package")), surroundings: self.surroundings.clone() }
    }

    /// A guest that asks for just what it is granted.
    async fn load(&self, guest: &[u8], granted: Permissions) -> Arc<dyn Code> {
        self.load_on(guest, self.terms(None, granted)).await
    }

    async fn load_on(&self, guest: &[u8], terms: Terms) -> Arc<dyn Code> {
        load_on(&plugins(), guest, Owner::new(Source::Sdk).on(terms)).await
    }
}

async fn load_on(plugins: &Plugins, guest: &[u8], owner: Owner) -> Arc<dyn Code> {
    plugins.load(guest, owner, Limits::default()).await.unwrap()
}

fn reads(folder: Folder) -> Permissions {
    Permissions::default().reading(folder)
}

fn writes(folder: Folder) -> Permissions {
    Permissions::default().writing(folder)
}

fn inside(path: &str) -> Folder {
    Folder::project().below(path).unwrap()
}

fn absolute(path: &Path) -> Folder {
    Folder::absolute(path).unwrap()
}

#[tokio::test]
async fn a_folder_is_read_where_that_is_granted_and_no_folder_is_there_else() {
    let world = World::new();
    let guest = reaching(Deed::Read, 0);
    let code = world.load(&guest, reads(Folder::project())).await;
    assert_eq!(try_on(&*code, "file").await.as_deref(), Ok("of the project"));
    assert_eq!(try_on(&*code, "src/../file").await.as_deref(), Ok("of the project"));
    assert_eq!(try_on(&*world.load(&guest, Permissions::default()).await, "file").await, Err(NO_FOLDER));
    assert_eq!(code.allowed().doubts, [""; 0]);
}

#[tokio::test]
async fn only_what_is_both_asked_for_and_granted_is_there() {
    let world = World::new();
    let guest = reaching(Deed::Read, 0);
    let none = || Permissions::default();
    let (project, src) = (|| reads(Folder::project()), || reads(inside("src")));
    for (asked, granted) in [(none(), project()), (project(), none()), (src(), reads(absolute(&world.at("secret"))))] {
        let code = world.load_on(&guest, world.terms(Some(asked), granted)).await;
        assert_eq!(try_on(&*code, "file").await, Err(NO_FOLDER));
    }
    // The inner one of both, whoever names it.
    for (asked, granted) in [(src(), project()), (project(), src())] {
        let code = world.load_on(&guest, world.terms(Some(asked), granted)).await;
        assert_eq!(try_on(&*code, "file").await.as_deref(), Ok("of src"));
        assert_eq!(try_on(&*code, "../file").await, Err(NOT_PERMITTED));
    }
    let code = world.load_on(&guest, world.terms(Some(none()), project())).await;
    assert!(code.allowed().doubts[0].contains("`${project}` is granted and not asked for"), "{:?}", code.allowed());
}

#[tokio::test]
async fn writing_takes_both_words_for_it() {
    let world = World::new();
    let guest = reaching(Deed::Write, 0);
    let (read, write) = (|| reads(Folder::project()), || writes(Folder::project()));
    for (asked, granted) in [(read(), read()), (write(), read()), (read(), write())] {
        let code = world.load_on(&guest, world.terms(Some(asked), granted)).await;
        assert_eq!(try_on(&*code, "file").await, Err(NOT_PERMITTED));
        assert_eq!(try_on(&*code, "new").await, Err(NOT_PERMITTED));
        assert_eq!(world.text("project/file").as_deref(), Some("of the project"));
        assert_eq!(world.text("project/new"), None);
    }
    let code = world.load(&guest, write()).await;
    assert_eq!(try_on(&*code, "new").await.as_deref(), Ok("guest"));
    assert_eq!(world.text("project/new").as_deref(), Some("guest"));
    let reader = world.load(&reaching(Deed::Read, 0), write()).await;
    assert_eq!(try_on(&*reader, "new").await.as_deref(), Ok("guest"), "who may write may read");
}

#[tokio::test]
async fn nothing_leads_out_of_a_folder() {
    let world = World::new();
    symlink(world.at("secret"), world.at("project/before")).unwrap();
    symlink("../secret/file", world.at("project/before-file")).unwrap();
    let secret = world.at("secret/file");
    let (read, write) = (reaching(Deed::Read, 0), reaching(Deed::Write, 0));
    let (reader, writer) =
        (world.load(&read, writes(Folder::project())).await, world.load(&write, writes(Folder::project())).await);
    symlink(world.at("secret"), world.at("project/after")).unwrap();
    symlink("../../secret", world.at("project/src/deep")).unwrap();
    let ways = [
        "../secret/file",
        "src/../../secret/file",
        "./../secret/file",
        "before/file",
        "before-file",
        "after/file",
        "src/deep/file",
        "/proc/self/environ",
        secret.to_str().unwrap(),
        "..",
        "src/deep/",
        "before/",
    ];
    for way in ways {
        for code in [&reader, &writer] {
            let came = try_on(&**code, way).await;
            assert!(came.is_err(), "{way}: {came:?}");
        }
    }
    assert_eq!(world.text("secret/file").as_deref(), Some("secret"));
}

#[tokio::test]
async fn a_link_of_the_plugins_own_making_leads_nowhere() {
    let world = World::new();
    let linker = world.load(&reaching(Deed::Link, 0), writes(Folder::project())).await;
    assert!(try_on(&*linker, world.at("secret/file").to_str().unwrap()).await.is_err(), "an absolute one is not made");
    let _ = try_on(&*linker, "../secret/file").await;
    let reader = world.load(&reaching(Deed::Read, 0), writes(Folder::project())).await;
    assert!(try_on(&*reader, "guest").await.is_err());
    let read_only = world.load(&reaching(Deed::Link, 0), reads(Folder::project())).await;
    assert!(try_on(&*read_only, "file").await.is_err());
}

#[tokio::test]
async fn a_folder_that_is_swapped_for_a_link_after_the_grant_is_still_the_one_that_was_granted() {
    let world = World::new();
    let code = world.load(&reaching(Deed::Read, 0), reads(inside("src"))).await;
    std::fs::rename(world.at("project/src"), world.at("project/moved")).unwrap();
    symlink(world.at("secret"), world.at("project/src")).unwrap();
    assert_eq!(try_on(&*code, "file").await.as_deref(), Ok("of src"));
    // Loaded anew, the link in the project leads out of it, and nothing is granted.
    let again = world.load(&reaching(Deed::Read, 0), reads(inside("src"))).await;
    assert_eq!(try_on(&*again, "file").await, Err(NO_FOLDER));
    assert!(again.allowed().doubts[0].contains("leads elsewhere by a link"), "{:?}", again.allowed());
}

#[tokio::test]
async fn a_link_in_the_project_widens_no_grant_however_it_is_spelt() {
    let world = World::new();
    symlink(world.at("secret"), world.at("project/link")).unwrap();
    symlink(world.at("secret"), world.at("package/link")).unwrap();
    symlink(world.at("project"), world.at("by-link")).unwrap();
    let plugin = Folder::plugin().below("link").unwrap();
    for folder in [inside("link"), absolute(&world.at("project/link")), plugin, absolute(&world.at("by-link/link"))] {
        let asked_wide = world.terms(Some(reads(absolute(Path::new("/")))), reads(folder.clone()));
        for terms in [world.terms(None, reads(folder.clone())), asked_wide] {
            let code = world.load_on(&reaching(Deed::Read, 0), terms).await;
            assert_eq!(try_on(&*code, "file").await, Err(NO_FOLDER), "{folder}");
        }
    }
    // A wide grant does not make a request lead out by a link either.
    let terms = world.terms(Some(reads(inside("link"))), reads(Folder::project()));
    assert_eq!(try_on(&*world.load_on(&reaching(Deed::Read, 0), terms).await, "file").await, Err(NO_FOLDER));
}

#[tokio::test]
async fn a_folder_has_the_path_it_has_outside_and_those_of_the_plugin_have_their_own() {
    let world = World::new();
    let names = reaching(Deed::Name, 0);
    let granted = |folder: Folder| world.load(&names, writes(folder));
    let project = try_on(&*granted(inside("src")).await, "x").await.unwrap();
    assert_eq!(Path::new(&project), world.at("project/src"));
    assert_eq!(try_on(&*granted(Folder::plugin()).await, "x").await.as_deref(), Ok("/tacklebox/plugin"));
    assert_eq!(try_on(&*granted(Folder::data()).await, "x").await.as_deref(), Ok("/tacklebox/data"));
}

#[tokio::test]
async fn what_is_not_there_is_said_and_is_not_there() {
    let world = World::new();
    for (folder, why) in [
        (inside("nowhere"), "is not there"),
        (inside("file"), "is no folder"),
        (Folder::data().below("x").unwrap(), "is not there"),
    ] {
        let code = world.load(&reaching(Deed::Read, 0), reads(folder)).await;
        assert_eq!(try_on(&*code, "file").await, Err(NO_FOLDER));
        assert!(code.allowed().doubts[0].contains(why), "{:?}", code.allowed());
    }
    let bare = Terms { package: None, ..world.terms(None, reads(Folder::plugin())) };
    let code = world.load_on(&reaching(Deed::Read, 0), bare).await;
    assert!(code.allowed().doubts[0].contains("`${plugin}` has no value here"), "{:?}", code.allowed());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_grant_opens_the_hosts_own_memory_and_environment() {
    let world = World::new();
    symlink("/proc/self", world.at("home/to-self")).unwrap();
    for folder in ["/proc", "/proc/self", "/proc/self/task", "~"].map(Path::new) {
        let folder = match folder.is_absolute() {
            true => absolute(folder),
            false => Folder::at(Start::Home).below("to-self").unwrap(),
        };
        let code = world.load(&reaching(Deed::Read, 0), reads(folder)).await;
        assert_eq!(try_on(&*code, "environ").await, Err(NO_FOLDER));
        assert!(code.allowed().doubts[0].contains("it shows processes"), "{:?}", code.allowed());
    }
}

#[tokio::test]
async fn each_plugin_has_a_folder_of_its_own_that_is_its_users_alone() {
    let world = World::new();
    let plugins = plugins();
    let owner =
        |source: Source, name: &str| Owner::new(source).named(name).on(world.terms(None, writes(Folder::data())));
    let (write, read) = (reaching(Deed::Write, 0), reaching(Deed::Read, 0));
    let data = world.at("home/.local/share/tacklebox/plugins");
    // Nothing is made for those who are not granted it.
    load_on(&plugins, &write, Owner::new(Source::Sdk).on(world.terms(None, reads(Folder::project())))).await;
    assert!(!data.exists());
    let writer = load_on(&plugins, &write, owner(Source::Sdk, "a")).await;
    assert_eq!(try_on(&*writer, "note").await.as_deref(), Ok("guest"));
    for entry in std::fs::read_dir(&data).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
    // Another name, another source, other bytes: another folder.
    for (guest, source, name) in [(&write, Source::Sdk, "b"), (&write, Source::Managed, "a"), (&read, Source::Sdk, "a")]
    {
        load_on(&plugins, guest, owner(source, name)).await;
    }
    let folders = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(folders.len(), 4);
    assert_eq!(folders.iter().filter(|folder| folder.join("note").exists()).count(), 1);
    // One that others can look into is not used.
    for folder in folders {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let code = load_on(&plugins, &write, owner(Source::Sdk, "a")).await;
    assert_eq!(try_on(&*code, "note").await, Err(NO_FOLDER));
    assert!(code.allowed().doubts[0].contains("open to others"), "{:?}", code.allowed());
}

#[tokio::test]
async fn for_a_core_module_nothing_is_opened_looked_up_or_made() {
    let world = World::new();
    let module = binary(r#"(module (func (export "_start")))"#);
    let host = Host::parse("a.example").unwrap();
    // What is opened or looked up would be said to be not there.
    let granted = writes(Folder::data()).reading(inside("nowhere")).sending(host).running("nothing").seeing("SEEN");
    let code = world.load(&module, granted.approving()).await;
    let gets_none = |what: &str| format!("{what} are granted, and a core module gets none: make a component of it");
    assert_eq!(code.allowed().doubts, ["folders", "hosts", "programs"].map(gets_none));
    assert!(code.allowed().approves.0 && !code.allowed().waits, "{:?}", code.allowed());
    assert!(!world.at("home/.local").exists());
    let asks = Permissions::default().reading(Folder::project());
    let code = world.load_on(&module, world.terms(Some(asks), Permissions::default().seeing("SEEN"))).await;
    assert!(code.allowed().doubts[0].contains("`env` SEEN is granted and not asked for"), "{:?}", code.allowed());
}

#[tokio::test]
async fn a_variable_is_seen_where_both_words_are_there_and_no_other_is() {
    let world = World::new();
    let guest = seeing();
    let names = |names: &[&str]| names.iter().fold(Permissions::default(), |all, name| all.seeing(*name));
    for (asked, granted, expected) in [
        (&["SEEN"][..], &["SEEN"][..], Ok("yes")),
        (&["SEEN", "OTHER"], &["SEEN"], Ok("yes")),
        (&["SEEN"], &[], Err(0)),
        (&[], &["SEEN"], Err(0)),
        (&["seen"], &["seen"], Err(0)),
        (&["SEEN", "OTHER"], &["SEEN", "OTHER"], Err(2)),
    ] {
        let code = world.load_on(&guest, world.terms(Some(names(asked)), names(granted))).await;
        let asking =
            Asking { env: &[("SEEN", "no"), ("SEEN", "yes"), ("OTHER", "x"), ("API_KEY", "k")], ..Asking::bash("ls") };
        let came = match asking.of(&*code).await.outcome {
            Outcome::Block(block) => Ok(block.reason),
            Outcome::Continue(change) => Err(change.context.unwrap().as_bytes()[0] - b'0'),
            other => panic!("{other:?}"),
        };
        assert_eq!(came.as_deref().map_err(|number| *number), expected, "{asked:?} {granted:?}");
    }
}

#[tokio::test]
async fn nothing_is_granted_while_a_plugin_describes_itself() {
    let world = World::new();
    world.lay("home/guest", "#!/bin/sh");
    std::fs::set_permissions(world.at("home/guest"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut terms = world.terms(None, writes(Folder::project()).running("guest"));
    terms.surroundings.env = vec![("PATH".into(), world.at("home").into())];
    let code = world.load_on(&reaching_early(), terms).await;
    assert_eq!(Asking::bash("ls").of(&*code).await.outcome, Outcome::pass());
    assert!(code.allowed().waits && code.allowed().doubts.is_empty(), "{:?}", code.allowed());
}

#[tokio::test]
async fn no_grant_opens_the_network() {
    const ACCESS_DENIED: u8 = 1;
    const PERMANENT_FAILURE: u8 = 20;
    let world = World::new();
    let all = Permissions::default().reading(absolute(Path::new("/"))).running("curl").seeing("PATH").approving();
    let came = try_on(&*world.load(&looking_up(), all.clone()).await, "localhost").await;
    assert!(matches!(came, Err(ACCESS_DENIED | PERMANENT_FAILURE)), "{came:?}");
    let came = try_on(&*world.load(&connecting(), all).await, "x").await;
    assert_eq!(came, Err(ACCESS_DENIED));
}

#[tokio::test]
async fn a_file_that_is_not_there_is_an_error_value() {
    let world = World::new();
    let code = world.load(&reaching(Deed::Read, 0), reads(Folder::project())).await;
    assert_eq!(try_on(&*code, "nothing").await, Err(NO_ENTRY));
}

/// By hand, since a thread that is kept keeps a runtime from ending as well.
#[test]
fn a_pipe_keeps_nobody_waiting() {
    let world = World::new();
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, world.at("project/pipe"), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    symlink("pipe", world.at("project/to-pipe")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tries = async {
        let mut came = Vec::new();
        for deed in [Deed::Read, Deed::Write] {
            let code = world.load(&reaching(deed, 0), writes(Folder::project())).await;
            for path in ["pipe", "src/../pipe", "to-pipe"] {
                let time = std::time::Duration::from_secs(15);
                came.push(tokio::time::timeout(time, try_on(&*code, path)).await.ok());
            }
        }
        came
    };
    let came = runtime.block_on(tries);
    runtime.shutdown_background();
    assert_eq!(came, vec![Some(Err(NOT_PERMITTED)); 6]);
}
