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

/// The items of the section with this title, each as one line.
fn items(text: &str, title: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let section = text.split_once(&format!("## {title}\n")).map_or("", |(_, section)| section);
    let titles = |line: &&str| !line.starts_with("### ");
    for line in section.lines().take_while(|line| !line.starts_with("## ")).filter(titles) {
        match (line.strip_prefix("- "), items.last_mut()) {
            (Some(begins), _) => items.push(begins.to_owned()),
            (None, Some(item)) => *item = format!("{item} {}", line.trim()),
            (None, None) => {}
        }
    }
    items
}

/// The tests that are said to hold an invariant: ``checked: `a`, `b` ``; `None` where it says nothing of the kind.
fn holders(item: &str) -> Option<Vec<&str>> {
    if item.contains("unchecked") {
        return Some(Vec::new());
    }
    let (_, tests) = item.split_once("checked: `")?;
    Some(tests.split('`').step_by(2).filter(|name| !name.is_empty()).collect())
}

fn unheld(tree: &Tree, text: &str, title: &str) -> Vec<String> {
    let items = items(text, title);
    if items.is_empty() {
        return vec![format!("there is nothing under `{title}`")];
    }
    let there = |name: &str| tree.rust().any(|source| !source.code().lines_with(&["fn", name]).is_empty());
    let mut broken = Vec::new();
    for item in &items {
        match holders(item) {
            None => broken.push(format!("neither `checked: ..` nor `unchecked`: {item}")),
            Some(tests) => {
                let gone = tests.into_iter().filter(|name| !there(name));
                broken.extend(gone.map(|name| format!("no test is called `{name}`: {item}")));
            }
        }
    }
    broken
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
    let broken = unheld(Tree::checkout(), text, "Invariants");
    assert_clean("each `checked:` in host/ARCHITECTURE.md names a test", &broken);
    let tree = Tree::of([("tests/a.rs", "// fn made_up() {}\nfn real() {}\nfn other() {}")]);
    let text = "# A\n- not one\n## Invariants\n\n- a.\n  checked: `real`,\n  `gone`\n- b. checked: `made_up`\n- c. unchecked\n- d.\n";
    assert_broken(&unheld(&tree, text, "Invariants"), &["`gone`", "`made_up`", "neither"]);
    assert_broken(&unheld(&tree, "nothing", "Invariants"), &["nothing under `Invariants`"]);
}

#[test]
fn each_promise_of_the_page_on_security_is_held_by_a_test_or_says_that_it_is_not() {
    let text = Tree::checkout().text("host/SECURITY.md").unwrap_or_default();
    let broken = unheld(Tree::checkout(), text, "Promises");
    assert_clean("each `checked:` in host/SECURITY.md names a test", &broken);
}
