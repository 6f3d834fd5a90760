//! What the documents say of the code: the README's table of events, the invariants of the architecture.

use tacklebox::event::EventName;

use crate::tree::Tree;
use crate::{assert_broken, assert_clean};

const COLUMNS: [&str; 6] = ["event", "matcher", "a block", "modified input", "modified output", "context"];

/// What a cell says of what an event does not do.
const NOTHING: &str = "-";

/// What the table has to say: a row an event, a cell a column.
fn expected() -> Vec<(String, [bool; 5])> {
    let row = |event: &EventName| {
        let class = event.class();
        (event.to_string(), [class.matcher, class.gate, class.input, class.output, class.context])
    };
    EventName::BUILT_IN.iter().map(row).collect()
}

/// The same as Markdown, to be pasted. What is not `-` may be said in any words.
fn markdown() -> String {
    let mut out = format!("| {} |\n|{}\n", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len()));
    for (event, cells) in expected() {
        let cells = cells.map(|is| if is { "yes" } else { NOTHING });
        out.push_str(&format!("| {event} | {} |\n", cells.join(" | ")));
    }
    out
}

/// What is wrong with the table that stands between the marks in `text`.
fn table(text: &str) -> Vec<String> {
    let between = text.split_once("<!-- events -->").and_then(|(_, rest)| rest.split_once("<!-- /events -->"));
    let Some((table, _)) = between else { return vec!["there are no marks around a table of events".to_owned()] };
    let mut rows = table.trim().lines().map(cells);
    let mut broken = Vec::new();
    if rows.next().unwrap_or_default() != COLUMNS {
        broken.push(format!("the columns are not {COLUMNS:?}"));
    }
    let rows: Vec<_> = rows.skip(1).collect();
    if rows.len() != expected().len() {
        broken.push(format!("{} rows, and {} events", rows.len(), expected().len()));
    }
    for (row, (event, flags)) in rows.iter().zip(expected()) {
        let said: Vec<_> = row.iter().skip(1).map(|cell| *cell != NOTHING).collect();
        if row.first().map(|cell| cell.trim_matches('`')) != Some(&event) || said != flags {
            broken.push(format!("{row:?} is not what `{event}` does"));
        }
    }
    broken
}

fn cells(row: &str) -> Vec<&str> {
    row.trim().trim_start_matches('|').trim_end_matches('|').split('|').map(str::trim).collect()
}

/// Each invariant, as the start of its line, and the tests that hold it; `None` where none is said to.
fn invariants(text: &str) -> Vec<(&str, Option<Vec<&str>>)> {
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with('>')) {
        if let Some((_, tests)) = line.split_once("checked: `").filter(|(before, _)| !before.ends_with("un")) {
            let names = tests.split('`').step_by(2).map(|name| name.rsplit("::").next().unwrap_or(name));
            found.push((line, Some(names.filter(|name| !name.is_empty()).collect())));
        } else if line.contains("unchecked") {
            found.push((line, None));
        }
    }
    found
}

fn unheld(tree: &Tree, text: &str) -> Vec<String> {
    let found = invariants(text);
    if found.is_empty() {
        return vec!["no invariant is said to be checked".to_owned()];
    }
    let tests: Vec<_> = found.into_iter().flat_map(|(_, tests)| tests.unwrap_or_default()).collect();
    let there = |name: &str| tree.rust().any(|source| !source.code().lines_with(&["fn", name]).is_empty());
    tests.into_iter().filter(|name| !there(name)).map(|name| format!("no test is called `{name}`")).collect()
}

#[test]
fn the_readme_has_the_table_of_events() {
    let readme = Tree::checkout().text("README.md").unwrap_or_default();
    let broken = table(readme);
    assert!(
        broken.is_empty(),
        "{}\n\nexpected, between `<!-- events -->` and `<!-- /events -->`:\n\n{}",
        broken.join("\n"),
        markdown()
    );
}

#[test]
fn a_table_that_says_otherwise_is_found() {
    let marked = |table: &str| format!("# A\n<!-- events -->\n{table}\n<!-- /events -->\n");
    assert_clean("what is expected is taken", &table(&marked(&markdown())));
    assert_clean("a cell says it in its own words", &table(&marked(&markdown().replace("yes", "the model"))));
    assert_broken(&table(""), &["no marks"]);
    let wrong = markdown().replace("| SessionEnd | - |", "| SessionEnd | yes |");
    assert_broken(&table(&marked(&wrong)), &["SessionEnd"]);
    let short = markdown().lines().take(16).collect::<Vec<_>>().join("\n");
    assert_broken(&table(&marked(&short)), &["14 rows, and 15 events"]);
}

#[test]
fn the_architecture_names_tests_that_are_there() {
    let text = Tree::checkout().text("host/ARCHITECTURE.md").unwrap_or_default();
    assert_clean("each `checked:` in host/ARCHITECTURE.md names a test", &unheld(Tree::checkout(), text));
    let tree = Tree::of([("tests/a.rs", "// fn made_up() {}\nfn real() {}\nfn other() {}")]);
    let text = "- a. checked: `real`, `a::other`\n- b. checked: `made_up`\n- c. unchecked: nobody knows how\n";
    assert_broken(&unheld(&tree, text), &["`made_up`"]);
    assert_broken(&unheld(&tree, "nothing"), &["no invariant"]);
}
