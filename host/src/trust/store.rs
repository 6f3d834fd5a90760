//! The file of what a person trusts: for each project's canonical path the digest of what it brought.
//!
//! It lies in the person's own folder, since a project could write itself into one of its own. A store that cannot be
//! believed trusts nothing.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

use crate::plugin::Digest;
use crate::surroundings::Surroundings;
use crate::wire::trust::{parse, render};

/// A larger file is no trust store.
const LARGEST: u64 = 16 << 20;

/// Whether anybody but its owner may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The projects that a person trusts, as the store was when it was read.
#[derive(Clone, Debug, Default)]
pub struct TrustStore {
    path: Option<PathBuf>,
    projects: BTreeMap<String, Digest>,
    problem: Option<String>,
}

/// Why the store is not written; it is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no folder for it.
    #[error("there is no home folder to keep the trust store in")]
    Nowhere,
    /// The project's path is no text that could be kept.
    #[error("{}: its path is not UTF-8, so it cannot be kept in the trust store", .0.display())]
    NoText(PathBuf),
    /// What is there cannot be believed, and is left for a person to look at.
    #[error("{}: {problem}", path.display())]
    Unbelievable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl TrustStore {
    /// The store of the person whose surroundings these are: `tacklebox/trust.json` in `$XDG_CONFIG_HOME`, or in
    /// `~/.config`, read now.
    pub fn of_this_user(surroundings: &Surroundings) -> Self {
        let named = surroundings.env.iter().find(|(name, _)| name == "XDG_CONFIG_HOME");
        let named = named.map(|(_, folder)| PathBuf::from(folder)).filter(|folder| folder.is_absolute());
        let config = named.or_else(|| Some(surroundings.home.as_ref()?.join(".config")));
        config.map_or_else(Self::default, |config| Self::at(config.join("tacklebox").join("trust.json")))
    }

    /// The store in this file, read now. One that is not there trusts nothing, and is made when it is written.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let (projects, problem) = match read(&path) {
            Ok(projects) => (projects, None),
            Err(problem) => (BTreeMap::new(), Some(problem)),
        };
        Self { path: Some(path), projects, problem }
    }

    /// The file; `None` where there is no folder for one.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Why it trusts nothing, where something is wrong with it.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// As what a project is trusted, by its canonical path.
    pub fn digest_of(&self, project: &Path) -> Option<Digest> {
        self.projects.get(project.to_str()?).copied()
    }

    /// Trusts a project, by its canonical path, as long as this store lives; writes nothing.
    pub fn admit(&mut self, project: &Path, digest: Digest) {
        if let Some(project) = project.to_str() {
            self.projects.insert(project.to_owned(), digest);
        }
    }

    /// Trusts a project, by its canonical path, from now on: writes the store.
    ///
    /// # Errors
    ///
    /// Where it cannot be written, or what is there cannot be believed; then nothing has changed.
    pub fn trust(&mut self, project: &Path, digest: Digest) -> Result<(), StoreError> {
        let key = project.to_str().ok_or_else(|| StoreError::NoText(project.to_owned()))?.to_owned();
        self.change(|projects| {
            projects.insert(key, digest);
        })
    }

    /// Forgets a project, and says whether it was trusted.
    ///
    /// # Errors
    ///
    /// As [`TrustStore::trust`].
    pub fn forget(&mut self, project: &Path) -> Result<bool, StoreError> {
        let key = project.to_str().ok_or_else(|| StoreError::NoText(project.to_owned()))?;
        let path = self.path.as_ref().ok_or(StoreError::Nowhere)?;
        if read(path).is_ok_and(|projects| !projects.contains_key(key)) {
            return Ok(false);
        }
        self.change(|projects| {
            projects.remove(key);
        })?;
        Ok(true)
    }

    /// Reads it anew under a lock, so that of two programs at once neither forgets what the other wrote.
    fn change(&mut self, change: impl FnOnce(&mut BTreeMap<String, Digest>)) -> Result<(), StoreError> {
        let path = self.path.clone().ok_or(StoreError::Nowhere)?;
        let failed = |error| StoreError::Write { path: path.clone(), error };
        let folder = path.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let lock = File::open(folder).map_err(failed)?;
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
        let mut projects = read(&path).map_err(|problem| StoreError::Unbelievable { path: path.clone(), problem })?;
        change(&mut projects);
        write(folder, &path, &render(&projects)).map_err(failed)?;
        (self.projects, self.problem) = (projects, None);
        Ok(())
    }
}

/// A temporary file is its owner's alone (0600), and is renamed once it is whole.
fn write(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// What the file says; nothing where there is none.
fn read(path: &Path) -> Result<BTreeMap<String, Digest>, String> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        about => about.map_err(|error| error.to_string())?,
    };
    let folder = path.parent().map(fs::metadata).transpose().map_err(|error| error.to_string())?;
    // Who may write the folder may put another file in its place.
    let writers = [("it", Some(&about)), ("its folder", folder.as_ref())];
    for (what, about) in writers.into_iter().filter_map(|(what, about)| Some((what, about?))) {
        if about.uid() != geteuid().as_raw() {
            return Err(format!("{what} belongs to somebody else"));
        }
        if about.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(format!("others may write {what}"));
        }
    }
    if !about.is_file() || about.len() > LARGEST {
        return Err("it is not a trust store".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    parse(&bytes)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const PROJECT: &str = "/some/project";

    fn home() -> (tempfile::TempDir, Surroundings) {
        let folder = tempfile::tempdir().unwrap();
        let surroundings = Surroundings { home: Some(folder.path().to_owned()), ..Surroundings::default() };
        (folder, surroundings)
    }

    fn trusted(surroundings: &Surroundings) -> Option<Digest> {
        TrustStore::of_this_user(surroundings).digest_of(Path::new(PROJECT))
    }

    #[test]
    fn what_is_trusted_is_kept_and_forgotten_for_its_owner_alone() {
        let (_folder, surroundings) = home();
        let digest = Digest::of(b"a");
        let mut store = TrustStore::of_this_user(&surroundings);
        assert!(!store.forget(Path::new(PROJECT)).unwrap());
        assert!(!store.path().unwrap().exists());
        store.trust(Path::new(PROJECT), digest).unwrap();
        assert_eq!(trusted(&surroundings), Some(digest));
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let path = store.path().unwrap();
        assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert!(store.forget(Path::new(PROJECT)).unwrap());
        assert_eq!(trusted(&surroundings), None);
    }

    #[test]
    fn two_writers_forget_nothing_of_each_others() {
        let (_folder, surroundings) = home();
        let mut stores = [(); 2].map(|()| TrustStore::of_this_user(&surroundings));
        stores[0].trust(Path::new("/a"), Digest::of(b"a")).unwrap();
        stores[1].trust(Path::new("/b"), Digest::of(b"b")).unwrap();
        let store = TrustStore::of_this_user(&surroundings);
        assert!(["/a", "/b"].iter().all(|project| store.digest_of(Path::new(project)).is_some()));
    }

    #[test]
    fn it_lies_where_the_person_keeps_settings() {
        let (folder, mut surroundings) = home();
        let path = |surroundings: &_| TrustStore::of_this_user(surroundings).path().map(Path::to_owned);
        assert_eq!(path(&surroundings), Some(folder.path().join(".config/tacklebox/trust.json")));
        for (named, expected) in [("/conf", "/conf/tacklebox/trust.json"), ("relative", "")] {
            surroundings.env = vec![("XDG_CONFIG_HOME".into(), OsString::from(named))];
            let expected = match expected {
                "" => folder.path().join(".config/tacklebox/trust.json"),
                expected => PathBuf::from(expected),
            };
            assert_eq!(path(&surroundings), Some(expected));
        }
        let mut nowhere = TrustStore::of_this_user(&Surroundings::default());
        assert!(matches!(nowhere.trust(Path::new(PROJECT), Digest::of(b"")), Err(StoreError::Nowhere)));
    }

    #[test]
    fn a_store_that_cannot_be_believed_trusts_nothing_and_is_left_alone() {
        let (_folder, surroundings) = home();
        let mut store = TrustStore::of_this_user(&surroundings);
        store.trust(Path::new(PROJECT), Digest::of(b"a")).unwrap();
        let path = store.path().unwrap().to_owned();
        let good = fs::read(&path).unwrap();
        let refused = |why: &str| {
            let mut store = TrustStore::of_this_user(&surroundings);
            assert_eq!(store.digest_of(Path::new(PROJECT)), None, "{why}");
            assert!(store.problem().unwrap().contains(why), "{why}: {:?}", store.problem());
            assert!(matches!(store.trust(Path::new("/q"), Digest::of(b"")), Err(StoreError::Unbelievable { .. })));
        };
        for (of, mode, why) in [(&*path, 0o620, "others may write it"), (path.parent().unwrap(), 0o777, "its folder")] {
            let before = fs::metadata(of).unwrap().permissions();
            fs::set_permissions(of, Permissions::from_mode(mode)).unwrap();
            refused(why);
            fs::set_permissions(of, before).unwrap();
        }
        File::create(&path).unwrap().write_all(b"{\"version\": 1, ").unwrap();
        refused("EOF");
        assert_eq!(fs::read(&path).unwrap(), b"{\"version\": 1, ");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused("not a trust store");
        fs::remove_dir(&path).unwrap();
        if !geteuid().is_root() {
            symlink("/etc/passwd", &path).unwrap();
            refused("somebody else");
            fs::remove_file(&path).unwrap();
        }
        File::create(&path).unwrap().write_all(&good).unwrap();
        assert!(trusted(&surroundings).is_some());
    }
}
