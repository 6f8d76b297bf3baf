"""Mutation testing: small faults are put into the code, one at a time, and tests must notice.

``make mutants NUMBER=120 SEED=1`` draws so many faults, as many from each room, and prints those that no test notices, with
the line. A fault is tried against the tests that run its line, as ``make coverage`` has recorded them, and those that were written
later in files called after its own; without such a record against the files of tests that are called after its file, or the room's. Faults that change
nothing that anybody can see are in ``equivalent_mutants.toml`` with the reason; they are not counted. ``--file`` and ``--line``
try every fault of a file or a line.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "biasamp"
ROOMS = ("counts", "resampling", "amplification", "association", "predictability", "policy")
EQUIVALENT = ROOT / "tests" / "equivalent_mutants.toml"
# What `make coverage` leaves: the lines that each test runs, and the seconds that it takes.
LINES, TIMES = ROOT / ".coverage", ROOT / ".coverage-times.xml"
GOAL = 0.9
# Seconds of tests, as measured without faults, that one fault is tried against; most are noticed by the first.
BUDGET = 40.0
# A fault may make a loop endless: tests that take so many times the processor's seconds, and some for a start, noticed it.
PATIENCE, GRACE = 4.0, 60.0
# No test waits for so many seconds of the clock.
LONGEST = 900.0
# What a file has whose functions run as machine code.
_COMPILED = "@numba.njit"
# Seconds of a file of tests of which nothing is known.
UNKNOWN = 30.0

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
# Arguments that change nothing where the code is right: zip's check of lengths, and which line a warning names.
_GUARDS = ("strict", "stacklevel")
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}


@dataclass(frozen=True)
class Mutant:
    """A fault: a piece of a file, and what takes its place."""

    file: str  # within the package
    line: int
    last: int
    start: int  # of the piece, in bytes of the file
    end: int
    before: str
    after: str
    whole: str  # the line as it stands

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]

    @property
    def shown(self) -> str:
        return f"{self.file}:{self.line}: {_short(self.before)} -> {_short(self.after)}"

    @property
    def key(self) -> tuple[str, str, str, str]:
        """By which it is known though lines move."""
        return self.file, self.whole, _flat(self.before), _flat(self.after)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= 70 else flat[:67] + "..."


def _alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes with a fault that may take the place of one."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in _COMPARISONS.get(type(node.ops[0]), ()):
            yield ast.Compare(node.left, [other()], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and not _is_type(node):
        yield ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub, ast.Invert)):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _NAMES:
        yield ast.Call(ast.Name(_NAMES[node.func.id]), node.args, node.keywords)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _NAMES:
        yield ast.Call(ast.Attribute(node.func.value, _NAMES[node.func.attr]), node.args, node.keywords)
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.AugAssign) and type(node.op) in _OPERATORS:
        yield ast.AugAssign(node.target, _OPERATORS[type(node.op)](), node.value)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()


def _is_type(node: ast.BinOp) -> bool:
    """Whether an operator joins types, as in ``int | None``."""
    return isinstance(node.op, ast.BitOr) and any(
        isinstance(side, ast.Constant) or (isinstance(side, ast.Name) and side.id[:1].isupper())
        for side in (node.left, node.right)
    )


class _Sites(ast.NodeVisitor):
    """The nodes that a fault may be put into: neither types, messages, guards nor what only the checker of types reads."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.keyword) and node.arg in _GUARDS:
            return
        self.found.append(node)
        for name, held in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "bases"):
                continue
            for child in held if isinstance(held, list) else [held]:
                if isinstance(child, ast.AST):
                    self.visit(child)


def mutants_of(path: Path) -> list[Mutant]:
    """Every fault of a file, in the order of its lines."""
    text = path.read_text(encoding="utf-8")
    raw_lines = text.encode().splitlines(keepends=True)
    begins = [0]
    for raw in raw_lines:
        begins.append(begins[-1] + len(raw))
    raw_text = text.encode()
    sites = _Sites()
    sites.visit(ast.parse(text))
    out = []
    for node in sites.found:
        for other in _alternatives(node):
            start = begins[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
            end = begins[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
            before, after = raw_text[start:end].decode(), ast.unparse(ast.fix_missing_locations(other))
            if isinstance(other, ast.expr):
                after = f"({after})"
            line = raw_lines[node.lineno - 1].decode().strip()  # type: ignore[attr-defined]
            place = path.relative_to(PACKAGE).as_posix()
            out.append(Mutant(place, node.lineno, node.end_lineno, start, end, before, after, line))  # type: ignore[attr-defined]
    return out


def all_mutants(rooms: Sequence[str]) -> dict[str, list[Mutant]]:
    """The faults of each room; compiled kernels and networks have none where there is nothing that runs them."""
    absent = [f"import {package}" for package in ("numba", "torch") if find_spec(package) is None]
    out: dict[str, list[Mutant]] = {}
    for room in rooms:
        texts = {file: file.read_text(encoding="utf-8") for file in sorted((PACKAGE / room).rglob("*.py"))}
        files = [file for file, text in texts.items() if not any(words in text for words in absent)]
        out[room] = [mutant for file in files for mutant in mutants_of(file)]
    return out


class Tests:
    """The tests that run a line, those first that are about its file, then the quick ones."""

    def __init__(self) -> None:
        from coverage import CoverageData

        self._held: dict[str, dict[int, list[str]]] = {}
        self._files: dict[str, str] = {}
        self._seconds: dict[tuple[str | None, str | None], float] = {}
        self._texts: dict[str, str] = {}
        self._collected: dict[str, list[str]] = {}
        self._data: Any = None
        if not LINES.is_file() or not TIMES.is_file():
            print("which test runs which line is not known (make coverage): tests are found by their names", flush=True)
            return
        data = CoverageData(str(LINES))
        data.read()
        self._files = {Path(file).as_posix().rpartition("/src/biasamp/")[2]: file for file in data.measured_files()}
        self._data = data
        self._seconds = {
            (case.get("classname"), case.get("name")): float(case.get("time") or 0.0)
            for case in ElementTree.parse(TIMES).iter("testcase")
        }

    def seconds(self, test: str) -> float:
        from _pytest.junitxml import mangle_test_address

        *names, last = mangle_test_address(test)
        return self._seconds.get((".".join(names), last), UNKNOWN if self._data is None else 1.0)

    def _is_there(self, test: str) -> bool:
        """Whether a test of the record has kept its name."""
        place, _, name = test.partition("::")
        if place not in self._texts:
            file = ROOT / place
            self._texts[place] = file.read_text(encoding="utf-8") if file.is_file() else ""
        function = name.partition("[")[0].rpartition("::")[2]
        return f"def {function}(" in self._texts[place] or ("." in function and bool(self._texts[place]))

    def _lines(self, file: str) -> dict[int, list[str]]:
        """The tests that run each line of a file."""
        if file not in self._held:
            self._held[file] = self._data.contexts_by_lineno(self._files[file])
        return self._held[file]

    def _of_users(self, stem: str) -> set[str]:
        """The tests that run what imports a compiled file: of what runs within it nothing is recorded."""
        out: set[str] = set()
        for file in self._files:
            text = (PACKAGE / file).read_text(encoding="utf-8").splitlines()
            asked = [number for number, line in enumerate(text, 1) if "import" in line and stem in line]
            lines = self._lines(file) if asked else {}
            # An import within a function is run by the tests that need it, one at the top by the first of all.
            within = [number for number in asked if text[number - 1].startswith(" ")]
            for number in within or (lines if asked else ()):
                out |= {test.rpartition("|")[0] for test in lines.get(number, ()) if test}
        return out

    def _later(self, mutant: Mutant, known: set[str]) -> list[str]:
        """Tests in files called after a fault's file that were written after the record."""
        folder, recorded = ROOT / "tests" / mutant.room, LINES.stat().st_mtime
        found = []
        for file in sorted(folder.glob(f"test_{Path(mutant.file).stem}*.py")):
            if file.stat().st_mtime <= recorded:
                continue
            place = file.relative_to(ROOT).as_posix()
            if place not in self._collected:
                command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--no-header", place]
                done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
                self._collected[place] = [line for line in done.stdout.splitlines() if line.startswith(f"{place}::")]
            found += [test for test in self._collected[place] if test not in known and not self._is_recorded(test)]
        return found

    def _is_recorded(self, test: str) -> bool:
        """Whether the record has a test, which then does not run the line."""
        from _pytest.junitxml import mangle_test_address

        *names, last = mangle_test_address(test)
        return (".".join(names), last) in self._seconds

    def of(self, mutant: Mutant) -> list[str]:
        """As many tests of a fault's lines as there is time for; of its whole file, where they run on import."""
        if self._data is None:
            return _by_name(mutant)
        if mutant.file not in self._files:
            return []
        lines = self._lines(mutant.file)
        found = {test for line in range(mutant.line, mutant.last + 1) for test in lines.get(line, ())}
        tests = {test.rpartition("|")[0] for test in found if test}
        if not tests:
            tests = (
                {test.rpartition("|")[0] for held in lines.values() for test in held if test} if "" in found else set()
            )
        subject = Path(mutant.file).stem
        if not tests and _COMPILED in (PACKAGE / mutant.file).read_text(encoding="utf-8"):
            tests = self._of_users(subject)
        tests = {test for test in tests if self._is_there(test)}
        near = {
            test: (
                not Path(test.partition("::")[0]).stem.removeprefix("test_").startswith(subject),
                f"/{mutant.room}/" not in test,
                self.seconds(test),
            )
            for test in tests
        }
        out = self._later(mutant, tests)
        left = BUDGET
        for test in sorted(near, key=lambda test: (near[test], test)):
            if self.seconds(test) <= left:
                left -= self.seconds(test)
                out.append(test)
        return out


def _by_name(mutant: Mutant) -> list[str]:
    """The files of tests that are called after a file, or all of its room's, and the file's own examples."""
    folder = ROOT / "tests" / mutant.room
    own = sorted(folder.glob(f"test_{Path(mutant.file).stem}*.py"))
    found = [file.relative_to(ROOT).as_posix() for file in own or sorted(folder.glob("test_*.py"))]
    return [f"src/biasamp/{mutant.file}", *found]


def _copy_tree(target: Path) -> None:
    """A tree in which faults may be put: code is copied, and all else that tests read is there by a link."""
    target.mkdir()
    for place in ROOT.iterdir():
        if place.name in ("src", "tests", "reproductions"):
            shutil.copytree(place, target / place.name, ignore=shutil.ignore_patterns("*-pytest-*.pyc"))
            compileall.compile_dir(str(target / place.name), quiet=2)
        elif place.suffix in (".toml", ".py"):
            shutil.copy(place, target / place.name)
        elif not place.name.startswith(".") or place.name == ".github":
            (target / place.name).symlink_to(place)


@dataclass(frozen=True)
class Outcome:
    """What became of a fault: ``killed``, ``survived``, or ``untested`` where no test runs its line."""

    mutant: Mutant
    verdict: str
    detail: str


class Tree:
    """A copy of the project in which faults may be put, and the process that runs its tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._passes: dict[str, bool] = {}
        _copy_tree(folder)
        paths = [str(folder / part) for part in ("src", "tests", "reproductions/src", ".")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "BIASAMP_TEST_EXTRAS": "core"}
        # A fault of the same size, put in within a second, would be taken for the file that was compiled before.
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        self._server = subprocess.Popen(
            [sys.executable, str(folder / "tests" / "forked_tests.py")],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, tests: Sequence[str], seconds: float) -> tuple[int, str]:
        """How pytest ends, less than 0 for a signal, and what it says."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        asked = {"tests": list(tests), "seconds": int(GRACE + PATIENCE * seconds), "longest": LONGEST}
        print(json.dumps(asked), file=self._server.stdin, flush=True)
        answer = json.loads(self._server.stdout.readline())
        return answer["code"], answer["said"]

    def passes(self, test: str) -> bool:
        """Whether a test passes where there is no fault; one that does not tells nothing."""
        if test not in self._passes:
            self._passes[test] = self.run([test], LONGEST)[0] == 0
        return self._passes[test]

    def close(self) -> None:
        """End the process."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()


def try_mutant(mutant: Mutant, tests: Sequence[str], tree: Tree, seconds: float) -> Outcome:
    """Run tests on a tree with one fault, which is taken out again."""
    if not tests:
        return Outcome(mutant, "untested", "no test runs this line")
    file = tree.folder / "src" / "biasamp" / mutant.file
    right = file.read_bytes()
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()
    file.write_bytes(right[: mutant.start] + mutant.after.encode() + right[mutant.end :])
    try:
        code, said = tree.run(tests, seconds)
    finally:
        file.write_bytes(right)
    if code < 0:
        return Outcome(mutant, "killed", f"tests do not come to an end ({signal.Signals(-code).name})")
    if code == 0:
        return Outcome(mutant, "survived", f"{len(tests)} tests")
    if code > 3:
        there = [test for test in tests if f"{test}\n" not in said]  # those that pytest names are not there any more
        if len(there) == len(tests):
            raise SystemExit(f"{mutant.shown}: the tests cannot be run\n{said[-2000:]}")
        return try_mutant(mutant, there, tree, seconds)
    lines = [line.partition(" ")[2] for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    # Names may have blanks, and stand before what went wrong; a file that cannot be read stands for all of its tests, and where
    # tests are found by their names a file fails with any of them.
    failed = [
        test
        for test in tests
        if any(f"{line} - ".startswith((f"{test} - ", f"{test}::", f"{test.partition('::')[0]} - ")) for line in lines)
    ]
    if failed and not tree.passes(failed[0]):
        return try_mutant(mutant, [test for test in tests if test not in failed], tree, seconds)
    if not failed:
        raise SystemExit(f"{mutant.shown}: exit code {code} without a test that failed\n{said[-2000:]}")
    return Outcome(mutant, "killed", failed[0])


def _batches(tests: Sequence[str]) -> Iterator[list[str]]:
    """Tests of a file, of a few more, and of all others: pytest reads every file that it is given before it runs a test."""
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    held = list(files.values())
    for some in (held[:1], held[1:4], held[4:]):
        if some:
            yield [test for file in some for test in file]


def try_all(mutant: Mutant, tests: Sequence[str], tree: Tree, seconds: float) -> Outcome:
    """What becomes of a fault: the nearest tests are asked first."""
    for batch in _batches(tests):
        outcome = try_mutant(mutant, batch, tree, seconds)
        if outcome.verdict == "killed":
            return outcome
    return Outcome(mutant, "survived" if tests else "untested", f"{len(tests)} tests")


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """Faults that nobody can see, with the reason."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return {(row["file"], row["line"], row["before"], row["after"]): row["reason"] for row in listed}


def run(mutants: Sequence[Mutant], jobs: int, minutes: float) -> list[Outcome]:
    """Try faults, some at a time, until they are through or the time is."""
    tests, known = Tests(), equivalents()
    ends = time.monotonic() + 60 * minutes
    out: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="biasamp-mutants-") as folder:
        trees: SimpleQueue[Tree] = SimpleQueue()
        for number in range(jobs):
            trees.put(Tree(Path(folder) / str(number)))

        def one(mutant: Mutant) -> Outcome | None:
            if time.monotonic() > ends:
                return None
            chosen = tests.of(mutant)
            tree = trees.get()
            try:
                return try_all(mutant, chosen, tree, sum(map(tests.seconds, chosen)))
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(jobs) as pool:
            for done in as_completed([pool.submit(one, mutant) for mutant in mutants]):
                outcome = done.result()
                if outcome is None:
                    continue
                if outcome.verdict != "killed" and outcome.mutant.key in known:
                    outcome = Outcome(outcome.mutant, "equivalent", known[outcome.mutant.key])
                out.append(outcome)
                print(f"{outcome.verdict:<11}{outcome.mutant.shown}  ({outcome.detail})", flush=True)
        for _ in range(jobs):
            trees.get().close()
    return out


def _told(outcomes: Sequence[Outcome]) -> float:
    """Print how the rooms fared; the share of faults that were noticed."""
    verdicts = ("killed", "survived", "untested", "equivalent")
    print(f"\n{'room':<16}" + "".join(f"{verdict:>12}" for verdict in verdicts))
    times: dict[str, Counter[str]] = defaultdict(Counter)
    for outcome in outcomes:
        times[outcome.mutant.room][outcome.verdict] += 1
    for room, counted in times.items():
        print(f"{room:<16}" + "".join(f"{counted[verdict]:>12}" for verdict in verdicts))
    lost = [outcome for outcome in outcomes if outcome.verdict in ("survived", "untested")]
    for outcome in lost:
        mutant = outcome.mutant
        print(f"\n{outcome.verdict}: src/biasamp/{mutant.file}:{mutant.line}\n    {mutant.whole}")
        print(f"    before: {_flat(mutant.before)}\n    after:  {_flat(mutant.after)}")
    counted_in = sum(outcome.verdict != "equivalent" for outcome in outcomes)
    share = 1.0 - len(lost) / counted_in if counted_in else 1.0
    print(f"\n{len(outcomes)} mutants, {counted_in - len(lost)} of {counted_in} killed ({share:.1%})")
    return share


def main() -> int:
    """Try a sample of faults; 1 where too many are not noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=120, help="how many faults are drawn, as many from each room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="no further fault is tried after that")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--room", choices=ROOMS, action="append")
    parser.add_argument("--file", help="every fault of one file, such as counts/bags.py")
    parser.add_argument("--line", type=int, help="with --file: of one line")
    given = parser.parse_args()
    if given.file:
        found = mutants_of(PACKAGE / given.file)
        chosen = [mutant for mutant in found if given.line in (None, mutant.line)]
    else:
        drawn: Any = random.Random(given.seed)
        held = all_mutants(given.room or ROOMS)
        chosen = [
            mutant
            for room, mutants in held.items()
            for mutant in drawn.sample(mutants, min(len(mutants), -(-given.number // len(held))))
        ]
        drawn.shuffle(chosen)
    return int(_told(run(chosen, given.jobs, given.minutes)) < GOAL)


if __name__ == "__main__":
    sys.exit(main())
