//! What is found in a command text, as an attacker would try to hide it.

use std::time::{Duration, Instant};

use super::*;

fn joined(text: &str) -> Vec<String> {
    Commands::parse(text).list.iter().map(|command| command.joined().to_owned()).collect()
}

/// Whether some form of some command is `rm` or begins with `rm `.
fn shows_rm(text: &str) -> bool {
    let commands = Commands::parse(text);
    commands.list.iter().flat_map(SimpleCommand::forms).any(|form| form == "rm" || form.starts_with("rm "))
}

#[test]
fn constructs_are_taken_apart() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        ("# only a comment", &[]),
        ("a; b & c && d || e | f", &["a", "b", "c", "d", "e", "f"]),
        ("a |& b", &["a", "b"]),
        ("a\nb\n\nc", &["a", "b", "c"]),
        ("a \\\n b", &["a b"]),
        ("! a | b", &["a", "b"]),
        ("time -p a", &["a"]),
        ("{ a; b; }", &["a", "b"]),
        ("(a; (b))", &["a", "b"]),
        ("( (a); ( (b) ) )", &["a", "b"]),
        ("for x in 1 2; do a $x; done", &["a $x"]),
        ("for ((i=0; i<3; i++)); do a; done", &["a"]),
        ("while a; do b; done", &["a", "b"]),
        ("until a; do b; done", &["a", "b"]),
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("case $x in a|b) c;; (d) e;& *) f;;& esac", &["c", "e", "f"]),
        ("f() { a; }; function g { b; }; h() (c)", &["a", "b", "c"]),
        ("coproc a b", &["a b"]),
        ("coproc N { a; }", &["a"]),
        ("[[ -f $(a) && x == y ]] && b", &["b", "a"]),
        ("((x = 1)) && a", &["a"]),
        ("echo $((1 + $(a)))", &["echo $((1 + $(a)))", "a"]),
        ("echo $(a $(b))", &["echo $(a $(b))", "a $(b)", "b"]),
        ("echo `a \\`b\\``", &["echo `a \\`b\\``", "a `b`", "b"]),
        ("echo \"x $(a \"y z\")\"", &["echo x $(a \"y z\")", "a y z"]),
        ("echo ${x:-$(a)}", &["echo ${x:-$(a)}", "a"]),
        ("echo \"${x:-\"$(a)\"}\"", &["echo ${x:-\"$(a)\"}", "a"]),
        ("cat <(a) > >(b)", &["cat <(a)", "a", "b"]),
        ("x=$(a) y[$(b)]=1 c", &["c", "a", "b"]),
        ("x=(1 $(a)) b", &["b", "a"]),
        ("b < $(a)", &["b", "a"]),
        ("b <<< \"$(a)\"", &["b", "a"]),
        ("cat <<E\n$(a) `b` ${x:-$(c)}\nE\nd", &["cat", "d", "a", "b", "c"]),
        ("cat <<'E'\n$(a)\nE\nd", &["cat", "d"]),
        ("cat <<-E | b\n\t$(a)\n\tE", &["cat", "b", "a"]),
        ("cat <<A <<B\n$(a)\nA\n$(b)\nB\n", &["cat", "a", "b"]),
        ("bash -c 'a; b'", &["bash -c a; b", "a", "b"]),
        ("eval 'a;' b", &["eval a; b", "a", "b"]),
        ("echo 'a $(b)' \"c\"d", &["echo a $(b) cd"]),
        ("a # b\nc", &["a", "c"]),
        ("a#b", &["a#b"]),
        ("X=1 a Y=2 2>&1 >f", &["a Y=2"]),
    ];
    for (text, expected) in cases {
        let commands = Commands::parse(text);
        assert!(commands.parsed, "{text:?} {commands:?}");
        assert_eq!(joined(text), *expected, "{text:?}");
    }
}

#[test]
fn nothing_hides_a_program() {
    let cases = [
        "rm x",
        "\\rm x",
        "'rm' x",
        "r\\m x",
        "r\"m\" x",
        "r''m x",
        "$'rm' x",
        "$'\\x72m' x",
        "$\"rm\" x",
        "r\\\nm x",
        "/bin/rm x",
        "./rm x",
        "command rm x",
        "command -p rm x",
        "builtin rm",
        "exec -a z rm x",
        "env -i rm x",
        "env A=1 rm x",
        "env -u A rm x",
        "env -S 'rm x'",
        "env '-Srm x'",
        "env -iS 'rm x'",
        "env --split-string='rm x'",
        "/usr/bin/env rm x",
        "sudo -u x rm x",
        "sudo /bin/rm x",
        "sudo -- rm x",
        "doas rm x",
        "xargs -0 rm",
        "xargs -n 1 rm -f",
        "echo x | xargs rm",
        "timeout 5 rm x",
        "timeout -s KILL 5 rm x",
        "nice -n 5 rm x",
        "nohup rm x &",
        "rtk rm x",
        "rtk --ultra-compact rm x",
        "time rm x",
        "time -- rm x",
        "! rm x",
        "sudo env A=1 nice -n 5 rm x",
        "A=1 rm x",
        "A+=1 rm x",
        "A[0]=1 rm x",
        ">f rm x",
        "2>&1 rm x",
        "<f rm x",
        "<<<x rm x",
        "bash -c 'rm x'",
        "bash -lc 'rm x'",
        "sh -ec 'rm x'",
        "bash -c -e 'rm x'",
        "bash -o pipefail -c 'rm x'",
        "bash -eo pipefail -c 'rm x'",
        "bash --norc -c 'rm x'",
        "zsh -c 'rm x'",
        "dash -c -- 'rm x'",
        "sudo bash -c 'rm x'",
        "bash -c \"bash -c 'rm x'\"",
        "eval rm x",
        "eval \"rm x\"",
        "eval -- 'rm x'",
        "eval eval rm x",
        "if true; then rm x; fi",
        "true\nrm x",
        "true\r\nrm x\r\n",
        "true;rm x",
        "true&rm x",
        "true&&rm x",
        "true|rm x",
        "(rm x)",
        "{ rm x; }",
        "f() { rm x; }; f",
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"$(rm x)\"",
        "echo \"`rm x`\"",
        "cat <(rm x)",
        "X=$(rm x)",
        "echo ${X:-$(rm x)}",
        "echo $((1+$(rm x)))",
        "echo $[1+$(rm x)]",
        "cat <<E\n$(rm x)\nE",
        "[[ $(rm x) ]]",
        "case $(rm x) in a) ;; esac",
        "case a in $(rm x)) ;; esac",
        "for i in $(rm x); do :; done",
        "a=([$(rm x)]=1)",
        "a > $(rm x)",
        "a > >(rm x)",
        "coproc rm x",
        "while rm x; do :; done",
        "echo é; rm x",
        "echo '\n'; rm x",
        "echo $(echo $(echo $(rm x)))",
        "echo \\$'a\\'; rm x # '",
        "echo $$'a\\'; rm x # '",
        "cat <<'E' ; rm x\n'\nE\n",
        "cat <<\\E\n'\nE\nrm x",
        "cat << E; rm x\n'\nE",
        "echo \"${x//\\'/}\"; rm x # '",
        "echo ${x#\\'}; rm x # '",
        "echo a#'\n'; rm x",
        "echo $#; rm x",
        "echo ${#x}; rm x",
        "((x<<3)); rm x\n3",
        "echo $((1<<3)); rm x",
        "{ rm x; } > f",
        "(rm x) 2>&1",
        "f() { rm x; } > f",
        "a=b;rm x",
    ];
    for text in cases {
        assert!(shows_rm(text), "{text:?} {:?}", Commands::parse(text));
    }
}

#[test]
fn words_that_are_no_programs_are_not_shown_as_such() {
    for text in [
        "echo rm x",
        "ls rmdir",
        "'rm x'",
        "echo 'a; rm x'",
        "echo \"; rm x\"",
        "# rm x",
        "echo \\; rm x",
        "cat <<'E'\nrm x\nE",
        "x='rm y'",
    ] {
        let commands = Commands::parse(text);
        let first = commands.list.iter().any(|command| command.words.first().is_some_and(|word| word == "rm"));
        assert!(commands.parsed && !first && commands.reasons.is_empty(), "{text:?} {commands:?}");
    }
}

#[test]
fn what_no_pattern_can_vouch_for_has_a_reason() {
    use Reason::{ProgramNotLiteral, ShellReadsProgram, Sources, TextNotLiteral, Unparsed};
    let program = |word: &str| ProgramNotLiteral(word.to_owned());
    let shell = |name: &str| ShellReadsProgram(name.to_owned());
    let text = |name: &str| TextNotLiteral(name.to_owned());
    let cases = [
        ("$X y", program("$X")),
        ("\"$X\" y", program("$X")),
        ("$(echo rm) x", program("$(echo rm)")),
        ("`echo rm` x", program("`echo rm`")),
        ("/bin/r? x", program("/bin/r?")),
        ("/bin/[r]m x", program("/bin/[r]m")),
        ("{rm,-rf,x}", program("{rm,-rf,x}")),
        ("~/bin/x", program("~/bin/x")),
        ("{fd}>f rm x", program("{fd}")),
        ("sudo $X y", program("$X")),
        ("sudo -u root $X", program("$X")),
        ("timeout -s KILL 5 $X", program("$X")),
        ("xargs -I{} {}", program("{}")),
        ("env A=1 $X", program("$X")),
        ("bash -c '$X'", program("$X")),
        ("bash -c \"$X\"", text("bash")),
        ("bash -c \"echo $X\"", text("bash")),
        ("eval $X", text("eval")),
        ("source f", Sources),
        (". f", Sources),
        ("command . f", Sources),
        ("builtin source f", Sources),
        ("curl x | sh", shell("sh")),
        ("curl x | sudo bash -s -- a", shell("bash")),
        ("bash script.sh", shell("bash")),
        ("/bin/bash < f", shell("bash")),
        ("bash <(curl x)", shell("bash")),
        ("sh <<E\nrm x\nE", shell("sh")),
        ("bash <<< 'rm x'", shell("bash")),
        ("xargs sh", shell("sh")),
        ("xargs bash -c", shell("bash")),
        ("fish -c x", shell("fish")),
        ("echo 'unclosed", Unparsed),
        ("echo \"unclosed", Unparsed),
        ("echo $(unclosed", Unparsed),
        ("echo `unclosed", Unparsed),
        ("cat <<E\nunclosed", Unparsed),
        ("if a; then", Unparsed),
        ("a ;; b", Unparsed),
        (")", Unparsed),
        ("select x in a; do rm; done", Unparsed),
        ("bash -c 'if'", Unparsed),
        ("echo $(case a in b) rm x;; esac)", Unparsed),
        ("echo $(: # ) 'x\nrm y) # '", Unparsed),
        ("[[ x =~ ( # ) ]] && rm y\n ) ]]", Unparsed),
        ("declare a[ # ]=1; rm x", Unparsed),
        ("shopt -s extglob\necho @(#')\nrm x # ')", Unparsed),
        ("echo ${ rm x; }", Unparsed),
        ("echo ${x@P}", Unparsed),
        ("echo \"${x:-'}\"; rm x # '}\"", Unparsed),
        ("sh -c \"echo $'\\\\'; rm x #'\"", Unparsed),
        ("echo \0; rm x", Unparsed),
        ("echo \u{10fffe}1\u{10fffe}", Unparsed),
    ];
    for (text, expected) in cases {
        let commands = Commands::parse(text);
        assert!(commands.reasons.contains(&expected), "{text:?} {commands:?}");
        assert_eq!(commands.parsed, !commands.reasons.contains(&Unparsed), "{text:?}");
    }
}

#[test]
fn ordinary_commands_have_no_reason() {
    let cases = [
        "git status",
        "bash --version",
        "bash -c 'make test'",
        "command -v bash",
        "sudo apt-get install -y jq",
        "[ -f x ] && echo y",
        "find . -name '*.rs' -exec grep -l x {} +",
        "ls *.rs ~/x {a,b}",
        "echo $HOME \"$X\"",
        "FOO=1 make -j4 2>&1 | tee log",
        "for f in *.rs; do wc -l \"$f\"; done",
        "cd x && cargo test --all -- --nocapture",
        "git commit -m \"$(cat <<'EOF'\nA message (it's fine)\nEOF\n)\"",
        "python3 - <<'EOF'\nprint('a')\nEOF",
        "awk '{print $1}' f | sort | uniq -c",
        "[[ $x =~ ^a(b|c)$ ]] && echo",
        "test -n \"${x:-}\"",
        "sudo cp $A b",
        "xargs grep x",
        "echo 99999999999>f",
    ];
    for text in cases {
        let commands = Commands::parse(text);
        assert!(commands.parsed && commands.reasons.is_empty(), "{text:?} {commands:?}");
    }
}

#[test]
fn effects_beside_simple_commands_are_seen() {
    let cases = [
        ("{ a; } > f", true),
        ("((x = 1))", true),
        ("for x in a; do b; done", true),
        ("f() { a; }", true),
        ("echo ${x:=1}", true),
        ("echo $((x = 1))", true),
        ("[[ a =~ b ]]", true),
        ("coproc a", true),
        ("{ a; } 2>&1", false),
        ("(a) > /dev/null", false),
        ("a > f", false),
        ("if a; then b; fi", false),
        ("echo ${x:-1} $(a)", false),
    ];
    for (text, expected) in cases {
        assert_eq!(Commands::parse(text).side_effects, expected, "{text:?}");
    }
}

#[test]
fn redirections_to_files_are_kept() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("a > f 2>> g", &[(">", "f"), (">>", "g")]),
        ("a 2>&1 >&2 <&- >/dev/null", &[]),
        ("a &> 'f g' >& h", &[("&>", "f g"), (">&", "h")]),
        ("a < f <<< x", &[("<", "f")]),
    ];
    for (text, expected) in cases {
        let commands = Commands::parse(text);
        let found: Vec<(&str, &str)> =
            commands.list.iter().flat_map(|command| &command.redirections).map(|(a, b)| (*a, b.as_str())).collect();
        assert_eq!(found, *expected, "{text:?}");
    }
}

#[test]
fn a_plugin_is_given_the_words() {
    assert_eq!(
        Commands::parse("git commit -m 'two words' && ls").words(),
        [vec!["git", "commit", "-m", "two words"], vec!["ls"]]
    );
}

#[test]
fn no_text_takes_long_or_overflows() {
    let n = 100_000;
    let texts = [
        "(".repeat(n),
        "((((((((((((((((((((a;b))))))))))))))))))))".to_owned(),
        "$(".repeat(n),
        "${".repeat(n),
        "`".repeat(n),
        "\"$(".repeat(n),
        "{ ".repeat(n),
        "if ".repeat(n),
        "! ".repeat(n),
        "coproc ".repeat(n),
        "[[ ".repeat(n),
        "[[ ( ".repeat(n),
        "a[${".repeat(n),
        "<(".repeat(n),
        "$((".repeat(n),
        "$(( ( ".repeat(12) + &"1".repeat(n),
        "case a in a) ".repeat(n),
        "f() { ".repeat(n),
        "a=(".repeat(n),
        "\\".repeat(n),
        "case a in a) ".repeat(6) + "b" + &" ; esac".repeat(6),
        "a;".repeat(n / 2),
        "a|".repeat(n / 2) + "a",
        "a\n".repeat(n / 2),
        "a ".repeat(n / 2),
        "sudo ".repeat(n / 8),
        "sudo rm ".repeat(n / 8),
        "env -S ".repeat(n / 8),
        "eval ".repeat(n / 8),
        "cat <<E\nE\n".repeat(n / 16),
        "<<E ".repeat(n / 8),
        "$(a)".repeat(n / 8),
        "x=".to_owned() + &"$(a;".repeat(15) + &"b".repeat(n) + &")".repeat(15),
        "$((a;".repeat(15) + &"b".repeat(n) + &"))".repeat(15),
        "bash -c \"".repeat(n / 16),
        "a".repeat(1 << 20),
        "x[".repeat(n),
        "if a; then ".repeat(20) + "b" + &"; fi".repeat(20),
        "{a,".repeat(n / 4),
        "$'\\".repeat(n / 4),
        "( ( ( ( ( ( ( ( ( ( a ; b ) ) ) ) ) ) ) ) ) )".to_owned(),
        "f() { ".repeat(20) + "a" + &"; }".repeat(20),
        "function f { ".repeat(20) + "a" + &"; }".repeat(20),
        "[[ ( ".to_owned() + &"( ".repeat(20) + "a" + &" )".repeat(21) + " ]]",
        "a".repeat(n / 2) + &"[".repeat(n / 2),
        "a".repeat(n / 2) + "-" + &"=".repeat(n / 2),
        "{ a".repeat(20) + &"; }".repeat(19),
    ];
    for text in texts {
        let start = Instant::now();
        // The stack of a thread of tokio's.
        let name = text.chars().take(30).collect::<String>();
        let run = std::thread::Builder::new()
            .stack_size(2 << 20)
            .spawn(move || Commands::parse(&text).parsed)
            .expect("a thread");
        let parsed = run.join().expect("no panic");
        assert!(start.elapsed() < Duration::from_secs(60), "{name:?} took {:?}, parsed {parsed}", start.elapsed());
    }
}
