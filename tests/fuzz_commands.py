"""Command lines for the fuzzer: every command, mostly right, with odd options, on files that it may not change."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

import biasamp
from table_files import write

Rng = np.random.Generator
# What a command line may end with: done, a limit that does not hold, an error in words, not enough evidence.
EXITS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Files:
    """A folder of inputs, and the columns that its data have."""

    folder: Path
    data: Path
    roles: tuple[str, ...]

    def named(self, name: str) -> str:
        return str(self.folder / name)


def make_files(rng: Rng, folder: Path) -> Files:
    """Records with scores, the counts and audits of them, labels, a policy, and a file that is none of these."""
    n = int(rng.choice([12, 40, 120]))
    truth = rng.integers(0, 2, n)
    table = pa.table(
        {
            "id": pa.array(np.arange(n)),
            "g": pa.array(rng.choice(["w", "m", "é"], n, p=[0.5, 0.4, 0.1]).tolist()),
            "h": pa.array(rng.integers(0, 2, n)),
            "t": pa.array(truth),
            "p": pa.array(np.where(rng.random(n) < 0.3, 1 - truth, truth)),
            "q": pa.array(np.where(rng.random(n) < 0.2, 1 - truth, truth)),
            "s": pa.array(rng.random(n).round(2)),
            "w": pa.array(rng.integers(1, 4, n)),
            "c": pa.array(rng.integers(0, n // 3, n)),
            "r": pa.array(rng.choice(["north", "south"], n).tolist()),
            "word": pa.array(rng.choice(["man", "woman", "car", "bike"], n).tolist()),
        }
    )
    data = write(table, folder / f"data.{rng.choice(['parquet', 'csv', 'jsonl', 'feather', 'csv.gz'])}")
    given = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
    for number, part in enumerate((table, table.slice(0, n // 2), table.slice(n // 2))):
        held = {name: part[name].to_pylist() for name in table.column_names}
        counts = biasamp.count(held, **given)
        counts.save(folder / f"counts{number}.parquet")
        biasamp.audit(counts, resamples=20, metrics=["directional", "multi", "parity"]).save(
            folder / f"audit{number}.json.gz"
        )
    (folder / "policy.toml").write_text(
        '[data]\nattributes = ["g"]\ntasks = ["t"]\ntask_predictions = ["p"]\n[[limit]]\nmetric = "directional"\nmax = 0.1\n'
    )
    (folder / "other.txt").write_text("\x00not a table\n")
    return Files(folder, data, ("--attributes", "g", "--tasks", "t", "--task-predictions", "p"))


_FILES: dict[tuple[int, ...], Files] = {}
_KEPT: list[Any] = []


def files(key: tuple[int, ...]) -> Files:
    """The inputs of a key, made once in a process."""
    if key not in _FILES:
        _KEPT.append(tempfile.TemporaryDirectory())
        _FILES[key] = make_files(np.random.default_rng(key), Path(_KEPT[-1].name))
    return _FILES[key]


# Options of commands that measure, right and odd.
_MORE: tuple[tuple[str, ...], ...] = (
    ("--record", "id"),
    ("--weights", "w"),
    ("--cluster", "c"),
    ("--resamples", "20"),
    ("--intersections",),
    ("--engine", "local"),
    ("--missing", "drop"),
    ("--positive", "1"),
    ("--reference", "w"),
    ("--reference", "nobody"),
    ("--ignore-groups", "é"),
    ("--confidence", "2"),
    ("--confidence", "nan"),
    ("--resamples", "-5"),
    ("--resamples", "x"),
    ("--seed", "-1"),
    ("--memory", "1"),
    ("--memory", "lots"),
    ("--threads", "0"),
    ("--train", "{data}"),
    ("--train", "{other.txt}"),
    ("--base", "{audit0.json.gz}"),
    ("--weights", "g"),
    ("--cluster", "nothing"),
    ("--binary", "tasks"),
    ("--categories", "tasks=0,1"),
    ("--categories", "x"),
    ("--unseen", "error"),
    ("--nothing",),
)
_OUTPUTS: dict[str, tuple[str, ...]] = {
    "audit": ("--json", "--html", "--save", "--markdown"),
    "check": ("--json", "--markdown", "--junit", "--save"),
    "compare": ("--json", "--html"),
    "why": ("--json", "--html"),
    "sweep": ("--json", "--html"),
    "associate": ("--json", "--html", "--csv"),
    "trajectory": ("--json",),
    "choose-thresholds": ("--json",),
    "calibrate": ("--json",),
    "count": ("--json",),
    "merge": ("--json",),
}
_INPUTS = (
    "data",
    "audit0.json.gz",
    "audit1.json.gz",
    "counts0.parquet",
    "counts1.parquet",
    "policy.toml",
    "other.txt",
    "none",
)


def _bare(command: str, rng: Rng, at: Callable[[str], str], roles: Sequence[str]) -> list[str]:
    """A command with the arguments that it needs, of the right kinds as a rule."""
    right = {
        "audit": ("data", "counts0.parquet"),
        "check": ("data", "audit0.json.gz", "counts0.parquet"),
        "merge": ("counts1.parquet",),
    }.get(command, ("data",))
    source = str(rng.choice(right if rng.random() < 0.85 else _INPUTS))
    columns = list(roles) if source == "data" and rng.random() < 0.95 else []
    scored = ["--scores", "s", "--attributes", "g", "--tasks", "t"]
    if command == "audit":
        more = ["--task-scores", "s"] if columns and rng.random() < 0.3 else []
        return [at(source), *columns, *more, "--metrics", "directional,parity", "--resamples", "20"]
    if command == "check":
        policy = ["--policy", at(str(rng.choice(["policy.toml", "other.txt", "none"], p=[0.9, 0.05, 0.05])))]
        baseline = ["--baseline", at(str(rng.choice(_INPUTS)))] if rng.random() < 0.2 else []
        return [at(source), *policy, *baseline, "--resamples", "20"]
    if command == "compare":
        if rng.random() < 0.5:
            models = ["--model", "a=p", "--model", "b=q", "--attributes", "g", "--tasks", "t", "--resamples", "20"]
            return [at("data"), *models, "--metrics", "directional,parity"]
        two = rng.choice(_INPUTS, 2) if rng.random() < 0.2 else ["audit0.json.gz", "audit1.json.gz"]
        return [f"{name}={at(str(file))}" for name, file in zip("ab", two, strict=True)]
    if command == "why":
        strata = ["--strata", "r"] if rng.random() < 0.5 else []
        return [at(source), "--attributes", "g", "--tasks", "t", "--scores", "s", *strata, "--resamples", "20"]
    if command == "sweep":
        return [
            at(source),
            *scored,
            *(["--span", "0.2", str(rng.choice(["0.6", "0.1", "x"]))] if rng.random() < 0.3 else []),
        ]
    if command == "choose-thresholds":
        return [at(source), *scored, "--limit", str(rng.choice(["0.02", "-1", "x", "nan"], p=[0.85, 0.05, 0.05, 0.05]))]
    if command == "calibrate":
        return [at(source), "--scores", "s", *(["--truth", "t"] if rng.random() < 0.5 else ["--rate", "0.3"])]
    if command == "trajectory":
        steps = ["counts1.parquet", "counts2.parquet", "audit0.json.gz"][: int(rng.integers(1, 4))]
        return [f"{i}={at(name)}" for i, name in enumerate(steps)]
    if command == "associate":
        return [
            at(source),
            "--label",
            "word",
            "--record",
            "id",
            "-i",
            str(rng.choice(["man,woman", "man", "man,nobody"])),
        ]
    if command == "count":
        return [at(source), *columns, "--record", "id", "--save", at("out/counts.parquet")]
    if command == "merge":
        return [
            at("counts1.parquet"),
            at(str(rng.choice(["counts2.parquet", *_INPUTS]))),
            "--save",
            at("out/sum.parquet"),
        ]
    if command == "explore":
        return [at(str(rng.choice(_INPUTS))), "--html", at("out/explorer.html")]
    return [str(rng.choice(["directional", "mals", "nothing", ""]))]


def line(rng: Rng, held: Files) -> list[str]:
    """A command line, its outputs in the folder ``out`` or, at times, over an input."""

    def at(name: str) -> str:
        return str(held.data) if name == "data" else held.named(name)

    command = str(rng.choice([*_OUTPUTS, "audit", "check", "explore", "metrics"]))
    words = [command, *_bare(command, rng, at, held.roles)]
    if command in ("audit", "check", "compare", "why", "count"):
        for i in rng.choice(len(_MORE), int(rng.choice(3, p=[0.5, 0.4, 0.1])), replace=False):
            words += [at(word[1:-1]) if word.startswith("{") else word for word in _MORE[i]]
    for option in _OUTPUTS.get(command, ()):
        if rng.random() < 0.25:
            read = [word.split("=")[-1] for word in words if Path(word.split("=")[-1]).is_file()]
            made = at(f"out/x{option[2:]}.{option[2:]}")
            words += [option, str(rng.choice(["-", made, made, made, at("out/no/folder/x"), *read[:1]]))]
    return words


def run(words: Sequence[str]) -> tuple[int, str, str]:
    """A command line in this process: what it ends with, and what it prints and says."""
    from biasamp.cli import _run

    out, said = io.StringIO(), io.StringIO()
    with mock.patch.multiple(sys, stdout=out, stderr=said, argv=["biasamp", *words]):
        code = _run()
    return code, out.getvalue(), said.getvalue()


def _inputs(held: Files) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in held.folder.iterdir() if path.is_file()
    }


def problem(rng: Rng, held: Files, foreign: Callable[[str], object]) -> tuple[str, int]:
    """What a random command line did that none may do, else nothing; and what it ended with."""
    shutil.rmtree(held.folder / "out", ignore_errors=True)
    (held.folder / "out").mkdir()
    before, words = _inputs(held), line(rng, held)
    code, printed, said = run(words)
    shown = " ".join(words)
    if code == 2 and not said:
        return f"no word about {shown}", code
    if foreign(said):
        return f"words of a library: {said[:300]} of {shown}", code
    if code not in EXITS:
        return f"exit {code} of {shown}", code
    if _inputs(held) != before:
        return f"an input was changed, or a file added beside it, by {shown}", code
    for path in (held.folder / "out").rglob("*"):
        if path.suffix == ".json" and path.is_file():
            json.loads(path.read_text(), parse_constant=_no_constant)
        if path.name.startswith(".") or path.suffix == ".tmp":
            return f"a temporary file is left by {shown}", code
    if code != 2 and words.count("-") == 1 and "--json" in words and words[words.index("--json") + 1] == "-":
        json.loads(printed, parse_constant=_no_constant)
    return "", code


def _no_constant(word: str) -> Any:
    raise AssertionError(f"{word} in JSON")
