import pytest

from app.syntax.shell_assignments import find_unconditionally_assigned_value, parse_assignments, put_variable


def of(text):
    return [(a.value, a.surely) for a in parse_assignments(text, "f") if a.name == "TMOUT" and not a.unset]


@pytest.mark.parametrize(
    "text",
    [
        "TMOUT=600",
        "  TMOUT=600\n",
        "export TMOUT=600\n",
        "readonly TMOUT=600",
        "declare -xr TMOUT=600\n",
        "typeset -r TMOUT='600'\n",
        'TMOUT="600"; export TMOUT\n',
        "TMOUT=600 # ten minutes\n",
        "A=1 TMOUT=600\n",
        "TMOUT=600 && export TMOUT\n",
        "if true; then A=1; fi\nTMOUT=600\n",
        "case x in a) A=1;; esac; TMOUT=600\n",
        "f() { A=1; }\nTMOUT=600\n",
    ],
)
def test_a_login_shell_surely_sets_it(text):
    assert of(text) == [("600", True)]


@pytest.mark.parametrize(
    "text",
    [
        "if [ -t 0 ]; then TMOUT=600; fi\n",
        "[ -t 0 ] && TMOUT=600\n",
        "[ -t 0 ] &&\n  TMOUT=600\n",
        "false || TMOUT=600\n",
        "( TMOUT=600 )\n",
        "f() {\n  TMOUT=600\n}\n",
        "TMOUT=600 | cat\n",
        "TMOUT=600 &\n",
        "return 0\nTMOUT=600\n",
        "case $- in *i*) TMOUT=600 ;; esac\n",
        "for a in 1; do\n TMOUT=600\ndone\n",
        "while read a; do TMOUT=600; done\n",
    ],
)
def test_it_may_be_set_but_not_surely(text):
    assert of(text) == [("600", False)]


@pytest.mark.parametrize(
    "text",
    [
        "# TMOUT=600\n",
        "echo TMOUT=600\n",
        "TMOUT=600 command\n",
        "cat <<E\nTMOUT=600\nE\n",
        "echo '\nTMOUT=600\n'\n",
        "tmout=600\n",
        "TM\u039fUT=600\n",
        "export TMOUT\n",
        "A=$(TMOUT=600; echo)\n",
    ],
)
def test_it_is_not_set(text):
    assert of(text) == []


def test_what_the_shell_would_compute_is_not_a_number():
    assert [value for value, _ in of('TMOUT=$A\nTMOUT=$((600))\nTMOUT="$A"\nTMOUT+=0\nTMOUT=600\r\n')] == [
        "$A",
        "$((600))",
        '"$A"',
        "TMOUT+=0",
        "600\r",
    ]


def test_unset_and_readonly_are_told():
    found = parse_assignments("readonly TMOUT=600\nunset TMOUT\n", "f")
    assert [(a.readonly, a.unset, a.line) for a in found] == [(True, False, 1), (False, True, 2)]


def test_the_place_of_a_value_is_known():
    text = "export A=1 TMOUT='600' B=2\n"
    found = next(a for a in parse_assignments(text, "f") if a.name == "TMOUT")
    assert text[found.start : found.end] == "'600'"


def test_the_umask_is_set_by_a_command_and_not_by_a_variable_of_its_name():
    assert find_unconditionally_assigned_value("umask=077\n", "umask") is None
    assert find_unconditionally_assigned_value("umask=077 TMOUT=600\n", "TMOUT") == "600"
    assert put_variable("umask=022\n", "umask", "077") == "umask=022\numask 077\n"
    assert put_variable("umask 022\n", "umask", "077") == "umask 077\n"
    assert put_variable("", "TMOUT", "600") == "TMOUT=600\n"
