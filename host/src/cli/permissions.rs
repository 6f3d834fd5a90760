//! Permissions for a person: what each is, literally, and what it comes to.

use serde_json::{Value, json};

use crate::event::Object;
use crate::permission::{Folder, Folders, Permissions, Programs};
use crate::surroundings::Surroundings;

/// Each permission that is there, by its name in files, with what it is for.
pub(super) fn rows(permissions: &Permissions) -> Vec<(&'static str, Vec<String>)> {
    let Permissions { read, write, env, http, run, approve } = permissions;
    let folders = |folders: &Folders| folders.0.iter().map(ToString::to_string).collect::<Vec<_>>();
    let approve = approve.0.then(|| "true".to_owned()).into_iter().collect();
    let hosts = http.0.iter().map(ToString::to_string).collect();
    let rows = [
        ("read", folders(read)),
        ("write", folders(write)),
        ("env", env.0.clone()),
        ("http", hosts),
        ("run", run.0.clone()),
        ("approve", approve),
    ];
    rows.into_iter().filter(|(_, what)| !what.is_empty()).collect()
}

/// As files write them.
pub(super) fn json(permissions: &Permissions) -> Object {
    let value = |name, what| if name == "approve" { Value::Bool(true) } else { json!(what) };
    rows(permissions).into_iter().map(|(name, what)| (name.to_owned(), value(name, what))).collect()
}

/// What to grant them would come to beyond the words.
pub(super) fn flags(permissions: &Permissions, surroundings: &Surroundings) -> Vec<String> {
    let runs = permissions.run.0.iter().filter(|program| Programs::runs_other_code(program));
    let runs = runs.map(|program| format!("run {program}: runs other code"));
    let (home, project) = (surroundings.home.as_deref(), surroundings.project.as_deref());
    let holds = |folder: &&Folder| folder.can_hold_what_others_run(home, project);
    let writes = permissions.write.0.iter().filter(holds);
    runs.chain(writes.map(|folder| format!("write {folder}: can write what others run"))).collect()
}
