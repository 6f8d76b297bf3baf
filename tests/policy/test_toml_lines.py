"""On which line of a TOML file each key stands; all of these files parse."""

from __future__ import annotations

import tomllib

import pytest

from biasamp.policy.toml_lines import key_lines, line_of


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", {}),
        ("a = 1", {("a",): 1}),
        ("\n\na = 1\nb = 2\n", {("a",): 3, ("b",): 4}),
        ("[x]\na = 1\n[y]\na = 2\n", {("x",): 1, ("x", "a"): 2, ("y",): 3, ("y", "a"): 4}),
        ("[x.y]\na = 1\n", {("x", "y"): 1, ("x", "y", "a"): 2}),
        ("[ x . 'y.z' ]\na = 1\n", {("x", "y.z"): 1, ("x", "y.z", "a"): 2}),
        ('[x] # [y]\na."b c".d = 1\n', {("x",): 1, ("x", "a", "b c", "d"): 2}),
        ("a . b = 1\n'c' = 2\n", {("a", "b"): 1, ("c",): 2}),
        ("a = { b = 1, c = 2 }\nd = 3\n", {("a",): 1, ("d",): 2}),
        ("a = [\n 'b = 1',\n [2],\n]\nd = 3\n", {("a",): 1, ("d",): 5}),
        ("a = [\n '''[''', # [\n]\nd = 3\n", {("a",): 1, ("d",): 4}),
        ("a = [ # ]\n  1 ]\nd = 3\n", {("a",): 1, ("d",): 3}),
        ('a = """\nb = 1\n[x]\n"""\nd = 3\n', {("a",): 1, ("d",): 5}),
        ("a = '''\n'''\nd = 3\n", {("a",): 1, ("d",): 3}),
        ("a = '''one line'''\nd = 3\n", {("a",): 1, ("d",): 2}),
        ('a = "\\"[{"\nd = 3\n', {("a",): 1, ("d",): 2}),
        ("a = '[{'\nd = 3\n", {("a",): 1, ("d",): 2}),
        ("a = [{ b = [1] },\n {}]\nd = 3\n", {("a",): 1, ("d",): 3}),
        (
            "[[l]]\na = 1\n[[l]]\n[[l]]\na = 3\n",
            {("l", 0): 1, ("l", 0, "a"): 2, ("l", 1): 3, ("l", 2): 4, ("l", 2, "a"): 5},
        ),
        (
            "[[l]]\n[l.x]\na = 1\n[[l]]\n[l.x]\na = 2\n",
            {
                ("l", 0): 1,
                ("l", 0, "x"): 2,
                ("l", 0, "x", "a"): 3,
                ("l", 1): 4,
                ("l", 1, "x"): 5,
                ("l", 1, "x", "a"): 6,
            },
        ),
        (
            "[[l]]\n[[l.m]]\n[[l.m]]\na = 1\n[[l]]\n[[l.m]]\na = 2\n",
            {
                ("l", 0): 1,
                ("l", 0, "m", 0): 2,
                ("l", 0, "m", 1): 3,
                ("l", 0, "m", 1, "a"): 4,
                ("l", 1): 5,
                ("l", 1, "m", 0): 6,
                ("l", 1, "m", 0, "a"): 7,
            },
        ),
        ("[x.y]\n[x]\na = 1\n", {("x", "y"): 1, ("x",): 2, ("x", "a"): 3}),
        ("[a]\nb = 1\n[a.c]\nd = 1\n", {("a",): 1, ("a", "b"): 2, ("a", "c"): 3, ("a", "c", "d"): 4}),
    ],
)
def test_the_line_of_every_key(text: str, lines: dict[tuple[str | int, ...], int]) -> None:
    tomllib.loads(text)
    assert key_lines(text) == lines


def test_what_stands_nowhere_has_the_line_of_what_holds_it() -> None:
    lines: dict[tuple[str | int, ...], int] = {("a",): 1, ("a", "b"): 2, ("l", 0): 5}
    assert line_of(lines, ("a", "b")) == 2
    assert line_of(lines, ("a", "b", "c", "d")) == 2
    assert line_of(lines, ("a", "x")) == 1
    assert line_of(lines, ("a",)) == 1
    assert line_of(lines, ("l", 0, "max")) == 5
    assert line_of(lines, ("l",)) is None
    assert line_of(lines, ("x",)) is None
    assert line_of(lines, ()) is None
