"""TOML of others: what would fill the memory is refused, and what only looks like it is read."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.data.toml_files import DEEPEST, LARGEST, TomlError, read_toml

DATA = {"g": ["a", "b"] * 20, "t": [0, 1, 1, 0] * 10, "p": [1, 1, 0, 0] * 10}
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
USERS = {
    "policy": biasamp.Policy.load,
    "provenance": lambda path: biasamp.audit(DATA, **ROLES, provenance=path),
}
HOSTILE = {
    "a key of many parts": (".".join(["a"] * 20_000) + " = 1", "a key has more than 16 parts"),
    "parts in quotes": (" . ".join(["'x.y'", '"a\\"."'] * 10_000) + " = 1", "a key has more than 16 parts"),
    "a table of many parts": ("[" + " . ".join(["'b'"] * 20_000) + "]", "a key has more than 16 parts"),
    "an inline table": ("a = {" + ".".join(["a"] * 20_000) + " = 1}", "a key has more than 16 parts"),
    "after a text that hides nothing": (
        'a = """\n""\n"""\nb = "x"\n' + ".".join(["a"] * 20_000) + " = 1",
        r"a key has more than 16 parts",
    ),
    "brackets": ("a = " + "[" * 100_000, "nested too deeply"),
    "digits": ("a = 1" + "0" * 10_000, "too many digits"),
    "no text": (b"a = '\xff'", "not UTF-8"),
    "another encoding": ("a = 1".encode("utf-16"), "not UTF-8"),
}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_refused(tmp_path: Path, kind: str, user: str) -> None:
    """The parser keeps every beginning of a dotted key: 20,000 parts are 100 kB of a file, and would be 1.6 GB of memory."""
    content, words = HOSTILE[kind]
    path = tmp_path / "hostile.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"hostile\.toml.*({words})"):
            USERS[user](path)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


DOTS = ".".join("abcdefghijklmnopqrstuvwxyz")
FRIENDLY: dict[str, Any] = {
    f"a = '{DOTS}'": {"a": DOTS},
    f'a = "{DOTS}" # {DOTS}': {"a": DOTS},
    f'a = """\n{DOTS}"" {DOTS}\n"""': {"a": f'{DOTS}"" {DOTS}\n'},
    f"a = '''\n# {DOTS}'''": {"a": f"# {DOTS}"},
    f"'{DOTS}' = 1": {DOTS: 1},
    "a = [" + "0.5, " * 40 + "]": {"a": [0.5] * 40},
    "a = 1\r\nb = 2\r": {"a": 1, "b": 2},
    "\ufeffa = 1": {"a": 1},
}


@pytest.mark.parametrize("text", FRIENDLY)
def test_what_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(text.encode())
    assert read_toml(path)[0] == FRIENDLY[text]


def test_the_limits(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("\n" + ".".join(["a"] * DEEPEST) + " = 1")
    held: Any = read_toml(path)[0]
    for _ in range(DEEPEST):
        held = held["a"]
    assert held == 1
    path.write_text("\n" + ".".join(["a"] * (DEEPEST + 1)) + " = 1")
    with pytest.raises(TomlError) as caught:
        read_toml(path)
    assert caught.value.line == 2
    path.write_bytes(b"#" * LARGEST)
    assert read_toml(path)[0] == {}
    with path.open("ab") as stream:
        stream.write(b"#")
    with pytest.raises(TomlError, match="more than 16 MB"):
        read_toml(path)


def test_a_device_has_no_end() -> None:
    with pytest.raises(ValueError, match=r"zero.*more than 16 MB"):
        biasamp.Policy.load("/dev/zero")
