//! `open-at` of WASI, but for what could keep it waiting: to open a pipe is to wait for who writes to it, on a thread that
//! no deadline frees, and an agent can make one wherever it may write. So only files and folders are opened.
//!
//! Between the look and the opening a pipe could still be put there; that costs a thread, and only time.

use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::filesystem::WasiFilesystemView as _;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, HostDescriptor as _, OpenFlags, PathFlags,
};

use super::instance::Guest;

/// The interface, in the version that the engine links.
const TYPES: &str = "wasi:filesystem/types@0.2.12";

type Wanted = (Resource<Descriptor>, PathFlags, String, OpenFlags, DescriptorFlags);
type Opened = Result<Resource<Descriptor>, ErrorCode>;

/// Puts it in the place of the engine's own.
pub(super) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.allow_shadowing(true);
    linker.instance(TYPES)?.func_wrap_async("[method]descriptor.open-at", |store, wanted: Wanted| {
        Box::new(async move { Ok((open(store, wanted).await?,)) })
    })?;
    linker.allow_shadowing(false);
    Ok(())
}

async fn open(mut store: StoreContextMut<'_, Guest>, wanted: Wanted) -> wasmtime::Result<Opened> {
    let (folder, follow, path, how, flags) = wanted;
    let mut files = store.data_mut().filesystem();
    let same = Resource::new_borrow(folder.rep());
    if let Ok(about) = files.stat_at(same, follow, path.clone()).await {
        use DescriptorType::{Directory, RegularFile, SymbolicLink};
        if !matches!(about.type_, Directory | RegularFile | SymbolicLink) {
            return Ok(Err(ErrorCode::NotPermitted));
        }
    }
    match files.open_at(folder, follow, path, how, flags).await {
        Ok(opened) => Ok(Ok(opened)),
        Err(error) => error.downcast().map(Err),
    }
}
