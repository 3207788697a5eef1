"""No shell reads the text of a line: wherever its place is, it arrives as it is, or the place is refused."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.model.array import Line, command_of
from headway.model.errors import ModelError

HOSTILE = [
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    "; touch pwned #",
    "') touch pwned;; x) ('",
    "x[$(touch pwned)]",
    "\\'; touch pwned; \\'",
    "} ; touch pwned; {",
    "|touch pwned",
]


def done(command: str, shell: str = "sh") -> tuple[str, bool]:
    """What a command prints, and whether it did what only the text of a line says."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["sh", "-c", command],
            executable=shutil.which(shell),
            cwd=folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        return run.stdout, (Path(folder) / "pwned").exists()  # a file of the text's own name may be written to


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(
    "template",
    [
        "echo {}",
        "printf '%s\\n' {} # it's the \"first\"",
        "# it's a comment\nprintf '%s\\n' {}",
        "# it's a comment\nprintf '%s\\n' '{}'",
        "x={}\nprintf '%s\\n' \"$x\"",
        "printf '%s\\n' \"$(printf %s {})\"",
        "printf '%s\\n' \"$(printf %s '{}')\"",
        "case {} in (a) ;; *) printf '%s\\n' \"{}\";; esac",
        "(printf '%s\\n' {})",
        "f() { printf '%s\\n' \"$1\"; }; f {}",
        "set -- a b; printf '%s\\n' {}",
        'sh -c \'printf "%s\\n" "$1"\' sh {}',
        "printf '%s\\n' {} | cat",
    ],
)
def test_what_is_in_a_line_arrives_as_it_is(template: str, text: str) -> None:
    said, pwned = done(command_of(template)(Line(text, 1)))
    assert not pwned
    assert said == f"{text}\n" or (template == "echo {}" and said)  # echo may heed backslashes


@pytest.mark.parametrize(
    ("template", "where"),
    [
        ("cat <<EOF\n{}\nEOF", "inside a here-document"),
        ("cat <<'EOF'\n{}\nEOF", "inside a here-document"),
        ("sh <<-E\\OF | cat\n\techo {}\n\tEOF\necho", "inside a here-document"),
        ("cat <<A <<B\na\nA\n{}\nB", "inside a here-document"),
        ("echo `echo {}`", "inside backquotes"),
        ('echo "`echo {}`"', "inside backquotes"),
        ("echo $(( {} + 1 ))", "inside $(( ))"),
        ('echo "$(( x + {} ))"', "inside $(( ))"),
        ("echo ${x:-{}}", "inside ${ }"),
        ("echo $(case a in a) echo {};; esac)", "after case inside $( )"),
        ('echo "$(case a in a) echo "{}";; esac)"', "after case inside $( )"),
        ("sh -c 'echo {}'", "in the script of sh -c"),
        ('sh -c "echo {}"', "in the script of sh -c"),
        ("/bin/bash -e -c {}", "in the script of bash -c"),
        ("timeout 5 sh -ec 'echo {}'", "in the script of sh -c"),
        ('s"h" -c "$(echo {})"', "in the script of sh -c"),
        ("find . -exec sh -c 'echo {}' ';'", "in the script of sh -c"),
        ("flock file -c 'echo {}'", "in the script of flock -c"),
        ("su user --command='echo {}'", "in the script of su -c"),
        ("eval echo {}", "after eval"),
        ("x=1 command eval 'echo {}'", "after eval"),
        ('if true; then eval "$(echo {})"; fi', "after eval"),
        ("trap 'echo {}' EXIT", "after trap"),
        ("ssh host cat {}", "after ssh"),
        ("bash -euo pipefail -c 'echo {} | cat'", "in the script of bash -c"),
        ('bash -o pipefail -c "echo {}"', "in the script of bash -c"),
        ('bash -oc pipefail "echo {}"', "in the script of bash -c"),
        ('sh -o errexit -c "echo {}"', "in the script of sh -c"),
        ('bash -O extglob -c "echo {}"', "in the script of bash -c"),
        ('bash --rcfile /dev/null -c "echo {}"', "in the script of bash -c"),
        ('2>/dev/null eval "echo {}"', "after eval"),
        ("> out eval echo {}", "after eval"),
        ("<l eval 'echo {}'", "after eval"),
        ("sh -c 2>&1 {}", "in the script of sh -c"),
        ("bash -c <<< x {}", "in the script of bash -c"),
        ("` `$SHELL -c {}", "in the script of $SHELL -c"),
        ("${x}sh -c {}", "in the script of sh -c"),
        ("${x:-${y}}sh -c {}", "in the script of ${x:-}sh -c"),
        ("$(echo sh) -c {}", "in the script of what a command prints -c"),
        ("sh -c `` {}", "in the script of sh -c"),
        ("sh -c $x {}", "in the script of sh -c"),
        ("bash -o $x errexit -c {}", "in the script of bash -c"),
        ("$x eval {}", "after eval"),
        ("sh -$x {}", "in the script of sh -c"),
        ("sh $(echo -c) {}", "in the script of sh -c"),
        ("{sh,-c} {}", "after {sh,-c}"),
        ("/bin/s? -c {}", "after /bin/s?"),
        ("bash -c 3<<<x {}", "in the script of bash -c"),
        ("sh -c 3<<E {}\nE", "in the script of sh -c"),
        ("sh -c >| out {}", "in the script of sh -c"),
        ("sh -c <> out {}", "in the script of sh -c"),
        ('f() { eval "echo {}"; }; f', "after eval"),
        ("env -u FOO watch {}", "after watch"),
        ("sudo -u bob ssh h {}", "after ssh"),
        ("(( {} ))", "inside $(( ))"),
        ("[[ {} -eq 1 ]]", "after [["),
        ("let x={}", "after let"),
        ("echo a # {}", "in a comment"),
        ("env -S {}", "after env -S"),
        ("env -u X -iS 'sh -c' {}", "after env -S"),
        ("timeout 5 /usr/bin/env --split-string='echo {}'", "after env -S"),
        ('"$SHELL" -c "echo {}"', "in the script of $SHELL -c"),
        ("${SHELL:-/bin/sh} -c 'echo {}'", "in the script of ${SHELL:-/bin/sh} -c"),
        ("ksh93 -c 'echo {}'", "in the script of ksh93 -c"),
        ("sh $options -c 'echo {}'", "in the script of sh -c"),
        ("bash -c$options 'echo {}'", "in the script of bash -c"),
        ("function f { eval {}; }; f", "after eval"),
        ("coproc eval {}", "after eval"),
        ("ionice -c 3 watch {}", "after watch"),
        ("sshpass -p x ssh host cat {}", "after ssh"),
        ("find . -name a -exec ssh host cat {} ';'", "after ssh"),
        ("ls | xargs -n 1 ssh host {}", "after ssh"),
        ("parallel gzip {} ::: a", "after parallel"),
        ("sbatch --wrap 'gzip {}'", "in --wrap"),
        ("sbatch --wrap='gzip {}'", "in --wrap"),
        ("read {} < file", "after read"),
        ("test -v {}", "after test -v"),
        ("[ ! -v {} ]", "after [ -v"),
        ("printf -v {} x", "after printf -v"),
        ("declare {}=1", "after declare"),
        ("f() { local -i x={}; }; f", "after local"),
        ("x[{}]=1", "in the index of an array"),
        ("x=([{}]=1)", "in the index of an array"),
        ("BASH_ENV={} bash -c true", "in BASH_ENV"),
    ],
)
def test_a_place_where_a_shell_would_read_the_text_is_refused_by_name(template: str, where: str) -> None:
    with pytest.raises(ModelError) as refused:
        command_of(template)
    assert f"cannot stand {where}, " in refused.value.what and refused.value.fix


@pytest.mark.parametrize(
    ("template", "what"),
    [
        ("true &> out eval {}", "&> is a redirection to some shells"),
        ("echo $[ {} ]", r"\$\[ computes in some shells"),
        ("bash -c {log}>out {}", r"\{log\}> is a redirection to some shells"),
        ("printf '%s' $'it\\'s' {}", r"\$' is a quote to some shells"),
    ],
)
def test_what_shells_read_differently_is_refused(template: str, what: str) -> None:
    with pytest.raises(ModelError, match=what):
        command_of(template)


def test_a_program_and_its_arguments_are_no_way_round() -> None:
    with pytest.raises(ModelError, match="in the script of sh -c"):
        command_of(["sh", "-c", "echo {}"])
    with pytest.raises(ModelError, match="in the script of bash -c"):
        command_of(["bash", "-euo", "pipefail", "-c", "echo {} | cat"])
    with pytest.raises(ModelError, match="after eval"):
        command_of(["eval", "echo {}"])
    assert command_of(["sh", "-c", 'echo "$1"', "sh", "{}"])(Line("a b", 1)) == "sh -c 'echo \"$1\"' sh 'a b'"


@pytest.mark.parametrize(
    "template",
    [
        "gzip -c {}",
        "tar -czf 'a b/{}' .",
        "cp . {}",
        "grep eval {}",
        "bash run.sh -c {}",
        "git -c a=b log {}",
        "bash -o errexit run.sh -c {}",
        "$CC -c {}",
        "env -u X gzip -S .z {}",
        "bash $HOME/run.sh -c {}",
        "find . -name {} -exec cat ssh ';'",
        "xargs -a {} cat",
        "export x={}",
        "f() { local x={}; echo $x; }; f",
        "read x < {}",
        "test -f {}",
        "ls [abc]{}",
        "cat <<< {}",
        "${CC:-gcc} -c {}",
        "gcc $(pkg-config --cflags x) -c {}",
        "$(which samtools) sort {}",
        'sh -c "$x" sh {}',
        "bash $OPTIONS run.sh {}",
        "grep 'a$' {}",
    ],
)
def test_what_only_looks_like_a_script_is_not_refused(template: str) -> None:
    assert "x y" in command_of(template)(Line("x y", 1))


_SIGNS = ["{}", "{1}", " ", "'", '"', "`", "$(", "$((", "))", "(", ")", "${x:-", "}", "#", "\\", "\n", ";", "|", "&& "]
_WORDS = [
    "$x ",
    '"$x" ',
    "${x}",
    "$@",
    "sh ",
    "-c ",
    "-o ",
    "bash -o errexit -c ",
    "2>&1 ",
    ">| /dev/null ",
    "<> /dev/null ",
    ">>/dev/null ",
    "<<< x ",
    "3<<<x ",
    "{fd}<x ",
    "&>",
    "f() { ",
    "env -u X ",
    "case x in x)",
    ";; esac",
    "<<E",
    "\nE\n",
    "sh -c ",
    "eval ",
    "if true; then ",
    "fi",
    "x=",
    "{ ",
    "; }",
    "E",
    "env -S ",
    "$SHELL -c ",
    "function f { ",
    "coproc ",
    "xargs ",
    "find . -exec ",
    "x[",
    "]=",
    "$[",
    "$'",
    "test -v ",
    "declare ",
    "read ",
]
_COMMANDS = ["echo ", "cat", "env ", "s?", "{sh,-c} "]


@settings(max_examples=400)
@given(
    st.lists(st.sampled_from(_SIGNS + _WORDS + _COMMANDS), min_size=1, max_size=9).map("".join),
    st.sampled_from(HOSTILE),
    st.sampled_from(["sh", "bash"]),  # bash is sh on many systems
)
def test_no_template_makes_a_shell_read_a_line(template: str, text: str, shell: str) -> None:
    try:
        command = command_of(template)(Line(text, 1))
    except ModelError:
        return
    assert not done(command, shell)[1], command
