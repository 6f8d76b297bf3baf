"""Damaged files of every kind that is read, made from a seed, and what becomes of reading them in a process of its own.

``python tests/damaged_files.py 2000`` reads so many of them, says how each kind fared and ends with 1 if there was a crash,
or a silent difference where a checksum could have told. ``--seed`` makes others.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id"}
_ROWS = 60
# Formats that have no lists.
_FLAT = ("csv", "tsv", "xlsx")
# Seconds that reading one small file may take.
PATIENCE = 240
# A child that asks for more memory than this has believed a damaged length.
_MEMORY = 6 << 30


def table() -> Any:
    """Records in columns of every type."""
    rng = np.random.default_rng(0)
    group = rng.choice(["woman", "man"], _ROWS)
    return pa.table(
        {
            "id": pa.array(range(_ROWS), pa.int64()),
            "g": pa.array(group).dictionary_encode(),
            "t": pa.array(rng.integers(0, 2, _ROWS), pa.int8()),
            "p": pa.array(rng.integers(0, 2, _ROWS), pa.int64()),
            "words": [["cat", "dog"], ["cat"], []] * (_ROWS // 3),
            "name": [f"näme {i}" for i in range(_ROWS)],
            "x": pa.array([0.5, None] * (_ROWS // 2)),
            "b": [True, False, None] * (_ROWS // 3),
        }
    )


def _write_table(path: Path) -> None:
    from table_files import write

    flat = path.name.removesuffix(".gz").endswith(_FLAT)
    whole = table().drop_columns(["words"]) if flat else table()
    write(whole.set_column(1, "g", whole["g"].cast(pa.string())), path)


def _write_dictionary(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table().schema) as writer:
        writer.write_table(table(), max_chunksize=20)


def _write_zipped_batches(path: Path) -> None:
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table().schema, options=options) as writer:
        writer.write_table(table(), max_chunksize=30)


def _write_groups(path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table(), path, row_group_size=20, write_page_checksum=False)


def _audit() -> Any:
    import biasamp

    return biasamp.audit(table().drop_columns(["words"]), **ROLES, metrics=["directional", "parity"], resamples=20)


def _write_counts(path: Path) -> None:
    import biasamp

    biasamp.count(table(), **ROLES).save(path)


def _write_labels(path: Path) -> None:
    import biasamp

    biasamp.count(table(), identities=["cat", "dog"], label="words", record="id", pairable=True).save(path)


def _read_data(path: Path) -> Any:
    """All values, in memory and part by part, which must be the same."""
    from biasamp.data.files import open_files
    from biasamp.data.parts import read_table, split

    names = table().column_names
    flat = path.name.removesuffix(".gz").endswith(_FLAT)
    wanted = [name for name in names if name != "words"] if flat else names
    files = open_files(path)
    whole = read_table(files, wanted)
    parts = split(files, wanted)
    batches = [batch for part in parts for batch in part.batches()]
    streamed = pa.Table.from_batches(batches, pa.schema(parts[0].fields))
    held = whole.to_pylist()
    # As text, in which NaN is equal to itself.
    if str(streamed.to_pylist()) != str(held):
        raise AssertionError(f"{path.name} is read in parts otherwise than whole")
    return held


def _audit_data(path: Path) -> Any:
    """An audit in memory and one part by part."""
    import biasamp

    settings: dict[str, Any] = {**ROLES, "metrics": ["directional"], "resamples": 20}
    one = biasamp.audit(path, **settings).document
    other = biasamp.audit(path, **settings, engine="local", threads=1).document
    if one["metrics"] != other["metrics"]:
        raise AssertionError(f"{path.name} has another audit in parts")
    return one["metrics"]


def _read_audit(path: Path) -> Any:
    import biasamp

    audit = biasamp.Audit.load(path)
    audit.to_markdown()
    if any(finding.code == "unchecked" for finding in audit.findings):
        raise ValueError(f"{path.name} has a caution: it has no checksum")
    return [audit.document, audit.resamples]


def _write_association(path: Path) -> None:
    import biasamp

    biasamp.associate(table(), ["cat", "dog"], label="words", record="id").to_json(path)


def _read_association(path: Path) -> Any:
    from biasamp.auditing.audit_result import read_json
    from biasamp.report.server import documents

    document, _ = documents({path.name: read_json(path, "result")})
    if "no checksum" in str(document["runs"][0]["notes"]):
        raise ValueError(f"{path.name} has a note: it has no checksum")
    return document


def _read_counts(path: Path) -> Any:
    import biasamp

    document = biasamp.audit(path, metrics=["directional"], resamples=20).document
    # When it was made is another second.
    return {**document, "provenance": {k: v for k, v in document["provenance"].items() if k != "time"}}


def _read_labels(path: Path) -> Any:
    import biasamp

    return biasamp.associate(biasamp.AssociationCounts.load(path)).to_dict()


@dataclass(frozen=True)
class Kind:
    """A kind of file: how one is written, what reads it, and whether a checksum covers all of its content."""

    name: str
    write: Callable[[Path], None]
    read: tuple[Callable[[Path], Any], ...]
    checked: bool = False


_DATA = (_read_data, _audit_data)
KINDS = {
    kind.name: kind
    for kind in (
        *(
            Kind(name, _write_table, _DATA)
            for name in ("a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.feather", "a.arrow")
        ),
        *((Kind("a.xlsx", _write_table, _DATA, True),) if find_spec("openpyxl") else ()),
        Kind("b.parquet", _write_groups, _DATA),
        Kind("b.arrow", _write_dictionary, _DATA),
        Kind("c.arrow", _write_zipped_batches, _DATA),
        *(Kind(f"z.{kind}.gz", _write_table, _DATA, True) for kind in ("csv", "jsonl", "parquet", "feather")),
        Kind("audit.json", lambda path: _audit().save(path), (_read_audit,), True),
        Kind("audit.json.gz", lambda path: _audit().save(path), (_read_audit,), True),
        Kind("association.json", _write_association, (_read_association,), True),
        Kind("counts.parquet", _write_counts, (_read_counts,), True),
        Kind("labels.parquet", _write_labels, (_read_labels,), True),
    )
}


def _span(raw: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(raw))
    return start, min(len(raw), start + rng.choice([1, 2, 4, 8, 40, 400]))


def _flip(raw: bytes, rng: random.Random) -> bytes:
    out = bytearray(raw)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _overwrite(raw: bytes, rng: random.Random) -> bytes:
    start, end = _span(raw, rng)
    filler = rng.choice([b"\0", b"\xff", b"\x7f", b"9", b"[", b'"', b"\n", b","])
    return raw[:start] + filler * (end - start) + raw[end:]


def _cut(raw: bytes, rng: random.Random) -> bytes:
    return raw[: rng.randrange(1, len(raw))]


def _delete(raw: bytes, rng: random.Random) -> bytes:
    start, end = _span(raw, rng)
    return raw[:start] + raw[end:] or b"x"


def _repeat(raw: bytes, rng: random.Random) -> bytes:
    start, end = _span(raw, rng)
    return raw[:end] + raw[start:]


def _insert(raw: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(raw) + 1)
    return raw[:place] + rng.randbytes(rng.choice([1, 4, 60])) + raw[place:]


def _append(raw: bytes, rng: random.Random) -> bytes:
    return raw + rng.choice([b"\0" * 9, b"\n", b"null\n", raw[:50], rng.randbytes(30), b"\x1f\x8b\x08"])


def _line(raw: bytes, rng: random.Random) -> bytes:
    """A line that is none put before one of a file of lines."""
    strange = [
        b"null",
        b"[]",
        b"3",
        b'"text"',
        b"{}",
        b"[" * 200_000,
        b'{"t":' * 200_000,
        b"\xff\xfe",
        b"{" + b"[" * 99,
    ]
    place = raw.find(b"\n", rng.randrange(len(raw))) + 1
    return raw[:place] + rng.choice(strange) + b"\n" + raw[place:]


def _json(raw: bytes, rng: random.Random) -> bytes:
    """A value of a document replaced by another, where it is JSON; else bits flipped."""
    try:
        document = json.loads(raw)
    except ValueError:
        return _flip(raw, rng)
    spot = document
    while isinstance(spot, (dict, list)) and spot:
        key = rng.choice(list(spot)) if isinstance(spot, dict) else rng.randrange(len(spot))
        if not isinstance(spot[key], (dict, list)) or not spot[key] or rng.random() < 0.2:
            others: list[Any] = [None, -1, 1e308, "text", [], {}, True, [[]], 2**70, "\ud800"]
            spot[key] = rng.choice(
                [other for other in others if other != spot[key] or type(other) is not type(spot[key])]
            )
            break
        spot = spot[key]
    return json.dumps(document).encode()


_DAMAGE: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_flip, _flip, _flip, _overwrite, _cut, _delete, _repeat, _insert, _append, _line, _json),
)


def damaged(whole: dict[str, bytes], number: int, seed: int = 0) -> tuple[str, bytes]:
    """The kind and the bytes of one damaged file."""
    rng = random.Random(f"{seed} {number}")
    kind = list(KINDS)[number % len(KINDS)]
    return kind, rng.choice(_DAMAGE)(whole[kind], rng)


def intact(folder: Path) -> dict[str, bytes]:
    """The bytes of one right file of each kind."""
    out = {}
    for name, kind in KINDS.items():
        kind.write(folder / name)
        out[name] = (folder / name).read_bytes()
    return out


def outcome(path: Path) -> dict[str, Any]:
    """What each reader makes of a file: its values, or what it says is wrong."""
    out: dict[str, Any] = {}
    for read in KINDS[path.name].read:
        try:
            out[read.__name__] = {"value": json.dumps(read(path), default=str, sort_keys=True)}
        except (ValueError, TypeError, OSError) as error:
            named = path.name in str(error) or any(f"{name!r}" in str(error) for name in table().column_names)
            named = named or any(role in str(error) for role in (*ROLES, "categor", "record", "labels"))
            out[read.__name__] = {"refused": str(error)} if named else {"crash": f"{type(error).__name__}: {error}"}
        except BaseException as error:
            out[read.__name__] = {"crash": f"{type(error).__name__}: {error}"}
    return out


def _child() -> None:
    """Read the files whose paths come in, one a line, and say what became of each."""
    import resource
    import warnings

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(outcome(Path(line.rstrip("\n")))), flush=True)


class Reader:
    """A process that reads files; another one where it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> dict[str, Any]:
        """What became of reading a file: as :func:`outcome` says, or how the process ended."""
        if self._process is None:
            command = [sys.executable, __file__, "--child"]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": ""}
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        ready = select.select([self._process.stdout], [], [], PATIENCE)[0]
        line = self._process.stdout.readline() if ready else ""
        if line:
            return dict(json.loads(line))
        code = self.close() if ready else None
        if code is None:
            self.close()
            return {"process": {"crash": f"nothing after {PATIENCE} seconds"}}
        return {"process": {"crash": signal.Signals(-code).name if code < 0 else f"exit code {code}"}}

    def close(self) -> int | None:
        """End the process; its exit code where it had ended by itself."""
        if self._process is None:
            return None
        process, self._process = self._process, None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            code: int | None = process.wait(0.5 if process.poll() is None else None)
        except subprocess.TimeoutExpired:
            code = None
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()
        return code


@dataclass(frozen=True)
class Result:
    """What one reader made of one damaged file: ``"same"``, ``"other"``, ``"refused"``, ``"silent"`` or ``"crash"``."""

    number: int
    kind: str
    reader: str
    verdict: str
    detail: str = ""


def judged(number: int, name: str, raw: bytes, right: dict[str, Any], found: dict[str, Any]) -> Iterator[Result]:
    """How the readers of a damaged file fared, held against the right file's values."""
    for reader, result in found.items():
        (verdict, detail), *_ = result.items()
        if verdict == "value":
            same = detail == right[name][reader].get("value")
            verdict = "same" if same else "silent" if KINDS[name].checked else "other"
        yield Result(number, name, reader, verdict, detail)


def read_damaged(count: int, seed: int = 0, first: int = 0) -> list[Result]:
    """Read damaged files in a child process."""
    reader, out = Reader(), []
    folder = Path(tempfile.mkdtemp(prefix="biasamp-damaged-"))
    try:
        whole = intact(folder)
        right = {name: reader.read(folder / name) for name in KINDS}
        for name, found in right.items():
            if any("value" not in result for result in found.values()):
                raise AssertionError(f"the right file {name} is not read: {found}")
        for number in range(first, first + count):
            name, raw = damaged(whole, number, seed)
            (folder / name).write_bytes(raw)
            out += judged(number, name, raw, right, reader.read(folder / name))
    finally:
        reader.close()
        shutil.rmtree(folder, ignore_errors=True)
    return out


def main() -> int:
    """Read many, and say how they fared."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--child", action="store_true")
    given = parser.parse_args()
    if given.child:
        _child()
        return 0
    results = read_damaged(given.count, given.seed, given.first)
    verdicts = ("same", "other", "refused", "silent", "crash")
    print(f"{'kind':<18}" + "".join(f"{verdict:>9}" for verdict in verdicts))
    for name in KINDS:
        times = Counter(result.verdict for result in results if result.kind == name)
        print(f"{name:<18}" + "".join(f"{times[verdict]:>9}" for verdict in verdicts))
    bad = [result for result in results if result.verdict in ("silent", "crash")]
    for result in bad[:40]:
        print(f"{result.number} {result.kind} {result.reader}: {result.verdict} {result.detail[:150]}")
    print(f"{given.count} damaged files: {len(bad)} crashes or silent differences")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
