//! What the guard stops, as an agent would try to get past it, and what it lets through.

use super::*;
use tacklebox_sdk::{json, testing};

fn cx() -> Context {
    Context { cwd: Some("/home/me/app".into()), project_dir: Some("/home/me/app".into()), ..Context::test() }
}

fn blocks(tool: &str, arguments: Value, cx: &Context) -> bool {
    let answer = ProtectHooks::run(&Input::test(Event::PreToolUse, tool, arguments), cx).expect("an answer");
    matches!(answer, Answer::Block(_))
}

fn write(path: &str) -> bool {
    blocks("write", json!({"file_path": path, "content": "x"}), &cx())
}

/// A command that the host takes apart at `;`, `|` and `&`, and whose words hold neither blanks nor quotes.
fn bash(text: &str) -> bool {
    let words = |part: &'static str| part.split_whitespace().collect::<Vec<_>>();
    let bare = Box::leak(text.replace(['\'', '"'], "").into_boxed_str());
    let commands: Vec<_> = bare.split([';', '|', '&']).map(words).filter(|words| !words.is_empty()).collect();
    let commands: Vec<_> = commands.iter().map(Vec::as_slice).collect();
    blocks("bash", json!({"command": text, "description": "x"}), &cx().with_commands(&commands))
}

#[test]
fn no_spelling_of_a_path_gets_through() {
    for path in [
        ".freecode/settings.json",
        ".claude/settings.local.json",
        "./.freecode/x",
        ".//.freecode//x",
        "src/../.freecode/x",
        ".freecode/../.freecode/x",
        "/home/me/app/.freecode/x",
        "/home/me/.claude/settings.json",
        "~/.claude/settings.json",
        "../.claude",
        ".FreeCode/x",
        ".CLAUDE\\settings.json",
        ".free\u{200c}code/x",
        ".claude./x",
        ".claude::$INDEX_ALLOCATION/x",
        "file:///home/me/app/.claude/x",
        "skills/release/plugin.json",
        "PLUGIN.JSON",
    ] {
        assert!(write(path), "{path}");
    }
}

#[test]
fn other_files_are_written() {
    for path in
        ["src/main.rs", "freecode/x", ".claudeignore", ".claude-plugin/x", ".claude.json", "plugin.jsonc", "a..b"]
    {
        assert!(!write(path), "{path}");
    }
    let about = json!({"file_path": "README.md", "content": "see .freecode/settings.json", "old_string": ".claude/x"});
    assert!(!blocks("edit", about, &cx()));
}

#[test]
fn every_argument_of_every_tool_counts() {
    for arguments in [
        json!({"source": "a", "destination": ".claude/settings.json"}),
        json!({"files": [{"path": "a"}, {"path": ".freecode/x"}]}),
        json!({"files": {".freecode/x": "{}"}}),
        json!({"patch": "--- a/.claude/settings.json"}),
        json!({"command": "rm settings.json", "workdir": ".freecode"}),
    ] {
        assert!(blocks("mcp__files__change", arguments.clone(), &cx()), "{arguments}");
    }
    assert!(!blocks("mcp__files__change", json!({"source": "a", "count": 3}), &cx()));
}

#[test]
fn tools_that_only_read_may_name_them() {
    let settings = json!({"file_path": ".claude/settings.json"});
    for tool in ["read", "Read", "grep", "glob"] {
        assert!(!blocks(tool, settings.clone(), &cx()), "{tool}");
    }
    assert!(blocks("mcp__files__read", settings.clone(), &cx()));
    testing::set_config(&json!({"readers": ["mcp__files__read"]}));
    assert!(!blocks("mcp__files__read", settings, &cx()));
}

#[test]
fn no_command_that_writes_gets_through() {
    for command in [
        "rm .freecode/settings.json",
        "rm -rf .freecode",
        "cd .freecode && rm settings.json",
        "cd .freecode",
        "pushd .claude; ls",
        "mv .claude /tmp/x",
        "cp evil.json .claude/settings.json",
        "cp -t.claude evil.json",
        "ln -s .freecode x",
        "tee .freecode/x",
        "sed -i s/a/b/ .claude/settings.json",
        "install -m 644 x .claude/settings.json",
        "dd if=x of=.freecode/settings.json",
        "truncate -s 0 .freecode/settings.json",
        "chmod 000 .freecode",
        "chown nobody .claude",
        "echo {} > .freecode/settings.json",
        "echo {}>.freecode/settings.json",
        "cat x > .freecode/settings.json",
        "cat x >> .claude/settings.json",
        "cat .claude/settings.json > .claude/settings.json",
        "cat <> .freecode/settings.json",
        "cat <<E > .freecode/x\n{}\nE",
        "sort -o.freecode/settings.json x",
        "curl -oplugin.json https://example.com",
        "git -C .freecode checkout .",
        "git checkout HEAD~9 -- .claude",
        "python3 -c open('.freecode/x','w')",
        "sudo rm -rf .freecode",
        "find . -path ./.freecode/* -delete",
        "d=.freecode; rm $d/settings.json",
        "/bin/rm .freecode/x",
        "rm SRC/../.FREECODE/x",
        "rm skills/x/plugin.json",
        "rm .freecode*",
    ] {
        assert!(bash(command), "{command}");
    }
}

#[test]
fn no_way_to_spell_a_name_for_the_shell_gets_through() {
    for command in [
        "rm .free''code/x",
        "rm \".free\"code/x",
        "rm .fr\\eecode/x",
        "rm .free\\\ncode/x",
        "rm .free\\\r\ncode/x",
        "rm '.freecode'/x",
        "rm .f*/settings.json",
        "rm .[f]reecode/x",
        "rm .??eecode/x",
        "rm .fre{x,ecode}/x",
        "rm {x,.freecode}/x",
        "r=.free; rm ${r}code/x",
        "r=.free; rm \"$r\"code/x",
        "r=code; rm .free$r/x",
        "rm $(echo .free)code/x",
        "rm `echo .free`code/x",
        "rm .free$(echo code)/x",
        "rm .free`echo code`/x",
        "rm .free${x:-code}/x",
        "rm .free${x/b/c}/x",
        "echo x > .fr*/settings.json",
        "rm $'\\x2efreecode'/x",
        "rm $'\\056freecode'/x",
        "rm $'\\56freecode'/x",
        "rm $'\\u002efreecode'/x",
        "rm *.json",
        "rm pl*",
    ] {
        assert!(bash(command), "{command}");
    }
}

#[test]
fn plain_reads_may_name_them() {
    for command in [
        "cat .freecode/settings.json",
        "ls -la .claude",
        "ls",
        "cat .claude/*.md | head -n 3",
        "grep -rn --include=*.md x .claude; wc -l .claude/x",
        "find .freecode -type f",
        "diff .claude/a .claude/b && stat .claude",
        "less .claude/x",
        "file .claude/x",
        "git diff .claude",
        "git log --oneline -- .freecode",
        "git status .freecode",
        "git show HEAD:.claude/settings.json",
    ] {
        assert!(!bash(command), "{command}");
    }
}

#[test]
fn a_reader_that_does_more_is_no_reader() {
    for command in [
        "find .freecode -delete",
        "find .freecode -name x -exec rm {} +",
        "find .freecode -execdir rm x",
        "find .freecode -okdir rm x",
        "find . -fprint .freecode/settings.json",
        "find . -fls .freecode/settings.json",
        "find .freecode *",
        "find .freecode -d?lete",
        "x=-delete; find .freecode $x",
        "find .freecode -{delete,x}",
        "git diff --output=.freecode/settings.json",
        "git log --outpu .freecode/settings.json",
        "git show --ext-diff .freecode",
        "git diff -- .freecode *",
        "git checkout .freecode",
        "git .freecode",
        "less -o .freecode/settings.json x",
        "less +!sh .freecode/x",
        "file -C -m .freecode/x",
        "PAGER=evil git diff .freecode",
        "LESSOPEN='|rm' less .freecode/x",
        "cat .freecode/x | tee y",
        "cat .freecode/x | sh",
        "ls() { rm x; }; ls .freecode",
        "alias cat=rm; cat .freecode/x",
        "./cat .freecode/x",
        "xargs cat .freecode/x",
        "cat .freecode/$(rm x)",
    ] {
        assert!(bash(command), "{command}");
    }
}

#[test]
fn a_command_that_was_not_taken_apart_may_not_name_them() {
    assert!(blocks("bash", json!({"command": "cat .freecode/x"}), &cx()));
    assert!(!blocks("bash", json!({"command": "cat x"}), &cx()));
}

#[test]
fn other_commands_pass() {
    for command in [
        "rm -rf target",
        "cargo test 2>&1 | sed 's/.*: //'",
        "grep -v '.*error.*' log > out",
        "for f in *.rs; do echo $f > $f.bak; done",
        "awk '{print $1}' x > y",
        "cp a.{x,y} b",
        "echo $'a\\nb' > x",
        "curl https://claude.ai > x",
        "git checkout -b claude",
        "rm .claudeignore",
        "rm $x",
        "rm *",
        "cc -x c - <<E\nfree(x);\nE",
        "grep 'x$' a > b",
    ] {
        assert!(!bash(command), "{command}");
    }
}

#[test]
fn where_the_agent_stands_counts() {
    let inside = Context { cwd: Some("/home/me/app/.freecode".into()), ..cx() };
    assert!(blocks("bash", json!({"command": "rm settings.json"}), &inside.clone().with_commands(&[&["rm", "x"]])));
    assert!(!blocks("bash", json!({"command": "ls"}), &inside.clone().with_commands(&[&["ls"]])));
    assert!(blocks("write", json!({"file_path": "settings.json"}), &inside));
}

#[test]
fn more_names_come_from_the_config() {
    testing::set_config(&json!({"paths": ["scripts/Guard.sh", "/etc/tacklebox/", "./hooks"]}));
    for path in ["scripts/guard.sh", "scripts/x/../GUARD.sh", "/etc/tacklebox/settings.json", "hooks/a", ".freecode/x"]
    {
        assert!(write(path), "{path}");
    }
    assert!(bash("cd scripts; rm guard.sh") && bash("cp x hooks") && bash("rm scripts/gu*"));
    assert!(!write("scripts/other.sh") && !bash("cat scripts/guard.sh"));
}

#[test]
fn a_misspelt_config_is_a_failure() {
    testing::set_config(&json!({"path": []}));
    let answer = ProtectHooks::run(&Input::test(Event::PreToolUse, "bash", json!({})), &cx());
    assert!(answer.expect_err("no answer").to_string().contains("unknown field `path`"));
}
