//! Guests that are written as text: one component, with a hole for what differs. Also compiled into the benchmarks.

/// The text of a guest with this `run`.
pub(super) fn text(run: &str) -> String {
    include_str!("guest.wat").replace("(;RUN;)", run)
}

/// This text with more imports, and with functions of theirs for its module: name, what is lowered, core type.
pub(super) fn importing(text: &str, imports: &str, functions: &[(&str, &str, &str)]) -> Vec<u8> {
    let (mut lowered, mut taken, mut given) = (String::new(), String::new(), String::new());
    for (name, function, core) in functions {
        lowered += &format!("(core func ${name} (canon lower {function}))");
        taken += &format!(r#"(import "host" "{name}" (func ${name} {core}))"#);
        given += &format!(r#"(export "{name}" (func ${name}))"#);
    }
    let (module, write) = ("(core module $guest", r#"(export "write" (func $write))"#);
    let text = text.replace("(;IMPORTS;)", imports).replace(module, &format!("{lowered} {module} {taken}"));
    binary(&text.replace(write, &format!("{write} {given}")))
}

/// What this text is in bytes.
pub(super) fn binary(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}
