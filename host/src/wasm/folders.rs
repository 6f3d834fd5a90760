//! The folders that a plugin reaches: found and opened when it is loaded, and handed to each of its calls.
//!
//! They are opened at the load and not at the call, since it is the agent that may move folders of the project in
//! between: a folder that is replaced by a link afterwards leads nowhere else, for the plugin has the one that was there.
//! A folder that is made, or made anew, after the load is there after the next.
//!
//! A name is followed to where it really lies before anything is compared: a link in the project may be the work of
//! whoever wrote the project, so a name in the project must not lead out of it.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use wasmtime_wasi::filesystem::WasiFilesystemCtx;
use wasmtime_wasi::{FsPerms, WasiCtx};

use super::allowance::folders_of;
use super::way::Way;
use crate::permission::{Folder, Permissions, Start};
use crate::plugin::{Digest, Terms};
use crate::session::StateOwner;
use crate::text::normal;

/// Where a plugin finds its package's folder.
const PLUGIN: &str = "/tacklebox/plugin";
/// Where a plugin finds its own folder.
const DATA: &str = "/tacklebox/data";

/// Open folders, each under the path that the plugin knows it by.
#[derive(Clone, Default)]
pub(super) struct Preopens(WasiFilesystemCtx);

impl Preopens {
    /// For one call.
    pub(super) fn hand_to(&self, cx: &mut WasiCtx) {
        *cx.filesystem() = self.0.clone();
    }
}

/// What may be done in a folder; the wider one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Access {
    /// It is read.
    Read,
    /// It is read and changed.
    Write,
}

/// A folder that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    /// Where the plugin sees it.
    seen: PathBuf,
    /// Where it really lies, without a link on the way.
    real: PathBuf,
    access: Access,
}

/// Opens what `asked` and the grant of `terms` have in common; what of the grant has no effect is among the doubts.
pub(super) fn open(asked: &Permissions, terms: &Terms, owner: &StateOwner, doubts: &mut Vec<String>) -> Preopens {
    let places = Places::of(asked, terms, owner, doubts);
    let mut folders: Vec<Found> = Vec::new();
    let requests = places.all(asked);
    for (list, access) in folders_of(&terms.granted) {
        for folder in &list.0 {
            match places.find(folder, access) {
                Err(why) => doubts.push(format!("`{folder}` is granted and {why}, so the plugin does not get it")),
                Ok(found) => {
                    let both = requests.iter().filter_map(|request| common(request, &found)).collect::<Vec<_>>();
                    if both.is_empty() {
                        doubts.push(format!(
                            "`{folder}` is granted and not asked for in `permissions`, so the plugin does not get it"
                        ));
                    }
                    both.into_iter().for_each(|both| keep(&mut folders, both));
                }
            }
        }
    }
    preopened(&folders, doubts)
}

/// What is in both: the inner one of two folders, with the narrower access.
fn common(request: &Found, grant: &Found) -> Option<Found> {
    let inner = if request.real.starts_with(&grant.real) {
        request
    } else if grant.real.starts_with(&request.real) {
        grant
    } else {
        return None;
    };
    Some(Found { access: request.access.min(grant.access), ..inner.clone() })
}

/// Of one path the widest access, since both were granted.
fn keep(folders: &mut Vec<Found>, new: Found) {
    match folders.iter_mut().find(|known| known.seen == new.seen && known.real == new.real) {
        Some(known) => known.access = known.access.max(new.access),
        None => folders.push(new),
    }
}

fn preopened(folders: &[Found], doubts: &mut Vec<String>) -> Preopens {
    let mut builder = WasiCtx::builder();
    for Found { seen, real, access } in folders {
        let permissions = match access {
            Access::Read => FsPerms::ReadOnly,
            Access::Write => FsPerms::ReadWrite,
        };
        let opened = Pinned::open(real).map_err(wasmtime::Error::from).and_then(|pinned| {
            builder.preopened_dir(pinned.path(), seen.to_string_lossy(), permissions)?;
            Ok(())
        });
        if let Err(why) = opened {
            doubts.push(format!("`{}` is granted and cannot be opened: {why:#}", seen.display()));
        }
    }
    Preopens(builder.build().filesystem().clone())
}

/// A folder that was opened without following a link: between finding and opening it somebody may have put one there.
struct Pinned {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    _folder: std::os::fd::OwnedFd,
}

impl Pinned {
    #[cfg(target_os = "linux")]
    fn open(real: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd as _;

        use rustix::fs::{CWD, Mode, OFlags, PROC_SUPER_MAGIC, fstatfs, openat};
        let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut folder = openat(CWD, "/", how, Mode::empty())?;
        for part in real.components().skip(1) {
            folder = openat(&folder, part.as_os_str(), how, Mode::empty())?;
        }
        if fstatfs(&folder)?.f_type == PROC_SUPER_MAGIC {
            return Err(io::Error::other("it shows processes, the host's own memory and environment among them"));
        }
        Ok(Self { path: format!("/proc/self/fd/{}", folder.as_raw_fd()).into(), _folder: folder })
    }

    /// Elsewhere no path leads to a descriptor; that nobody moved it is looked at once more, which leaves a moment.
    #[cfg(not(target_os = "linux"))]
    fn open(real: &Path) -> io::Result<Self> {
        match real.canonicalize()? == real {
            true => Ok(Self { path: real.to_owned() }),
            false => Err(io::Error::other("it was moved")),
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Where paths start.
struct Places<'t> {
    terms: &'t Terms,
    data: Option<PathBuf>,
}

impl<'t> Places<'t> {
    /// The plugin's own folder is made where it is both asked for and granted.
    fn of(asked: &Permissions, terms: &'t Terms, owner: &StateOwner, doubts: &mut Vec<String>) -> Self {
        let names_data = |permissions: &Permissions| {
            folders_of(permissions).iter().any(|(list, _)| list.0.iter().any(|folder| folder.start == Start::Data))
        };
        let wanted = names_data(asked) && names_data(&terms.granted);
        let folder = terms.surroundings.plugin_data().filter(|_| wanted).map(|all| all.join(data_name(owner)));
        let data = folder.and_then(|folder| match make_private(&folder) {
            Ok(()) => Some(folder),
            Err(why) => {
                doubts.push(format!("the plugin's own folder `{}` cannot be used: {why}", folder.display()));
                None
            }
        });
        Self { terms, data }
    }

    /// Those that are there. Of what is asked for and not there nobody has to hear.
    fn all(&self, permissions: &Permissions) -> Vec<Found> {
        let lists = folders_of(permissions).into_iter();
        let all = lists.flat_map(|(list, access)| list.0.iter().map(move |folder| (folder, access)));
        all.filter_map(|(folder, access)| self.find(folder, access).ok()).collect()
    }

    fn find(&self, folder: &Folder, access: Access) -> Result<Found, String> {
        let start = self.start(folder.start)?;
        let path = normal(&folder.from(&start));
        let way = Way::of(&path).map_err(|_| "is not there".to_owned())?;
        if !way.end().is_dir() {
            return Err("is no folder".to_owned());
        }
        if !self.stays(folder.start, &start, &way) {
            return Err("leads elsewhere by a link".to_owned());
        }
        let real = way.end().to_owned();
        let seen = match folder.start {
            Start::Plugin => folder.from(Path::new(PLUGIN)),
            Start::Data => folder.from(Path::new(DATA)),
            Start::Root | Start::Home | Start::Project => path,
        };
        match seen.to_str() {
            Some(_) => Ok(Found { seen, real, access }),
            None => Err("has a name that is not UTF-8".to_owned()),
        }
    }

    fn start(&self, start: Start) -> Result<PathBuf, String> {
        let place = match start {
            Start::Root => Some(PathBuf::from("/")),
            Start::Home => self.terms.surroundings.home.clone(),
            Start::Project => self.terms.surroundings.project.clone(),
            Start::Plugin => self.terms.package.clone(),
            Start::Data => self.data.clone(),
        };
        let place = place.filter(|place| place.is_absolute());
        place.ok_or_else(|| format!("`{}` has no value here", start.as_str()))
    }

    /// Whether what leads through the project, or starts in a folder of the plugin's, ends there, too.
    fn stays(&self, kind: Start, start: &Path, way: &Way) -> bool {
        let project = self.terms.surroundings.project.as_ref().and_then(|project| project.canonicalize().ok());
        let leads_out = project.is_some_and(|project| way.touches(&project) && !way.end().starts_with(project));
        let within = || start.canonicalize().is_ok_and(|start| way.end().starts_with(start));
        !leads_out && (matches!(kind, Start::Root | Start::Home) || within())
    }
}

/// The name of a plugin's own folder: of another source, another name or other bytes it is another.
fn data_name(owner: &StateOwner) -> String {
    let StateOwner { source, name, digest } = owner;
    let key = Digest::of(format!("{source}\n{digest}\n{name}").as_bytes()).to_string();
    let readable: String = name.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    format!("{readable}-{}", &key[..32])
}

/// Makes a folder that is this user's alone, or takes the one that is.
fn make_private(folder: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| error.to_string())?;
    let about = folder.symlink_metadata().map_err(|error| error.to_string())?;
    if !about.is_dir() {
        return Err("it is no folder".to_owned());
    }
    if about.uid() != geteuid().as_raw() {
        return Err(format!("it belongs to the user {}", about.uid()));
    }
    match about.mode() & 0o077 {
        0 => Ok(()),
        _ => Err(format!("its mode is {:04o}, so that it is open to others", about.mode() & 0o7777)),
    }
}
