"""The messages of the package, from its source; what differs from case to case is written as ``…``.

A message is what an exception is made with, or a warning given: a text, a constant, what a function returns, or what it was handed. All of
these are followed through the source, one of a name in the same file before one of that name elsewhere.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import biasamp

# The rooms of the package in words, in the order of the page.
ROOMS = {
    "data": "Files, columns and values",
    "cli": "The command line",
    "auditing": "Audits, comparisons and trajectories",
    "policy": "Policies and gates",
    "amplification": "Amplification, rates and thresholds",
    "predictability": "Leakage and DPA",
    "association": "Associations",
    "text": "Texts and evaluation logs",
    "counts": "Saved counts",
    "engines": "Clusters",
    "integrations": "scikit-learn, PyTorch and trackers",
    "report": "Pages",
    "results": "Tables and intervals",
    "resampling": "Intervals",
    "datasets": "Embedded and generated data",
}
GAP = "…"
_FEWEST = 6  # letters of its own that a message needs to be looked for by
_DEEPEST = 4  # names and calls that are followed one after another
_MOST = 12  # wordings of one message
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class _Source:
    """One file: its functions, what its names are set to, and where its functions take a message from their caller."""

    def __init__(self, file: Path, room: str) -> None:
        self.room = room
        self.tree = ast.parse(file.read_text(encoding="utf-8"))
        self.functions: dict[str, list[_Function]] = defaultdict(list)
        self.set: dict[str, list[ast.expr]] = defaultdict(list)
        for node in ast.walk(self.tree):
            if isinstance(node, _Function):
                self.functions[node.name].append(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self.set[_name(target)].append(node.value)
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Tuple) and isinstance(node.iter, ast.Call):
                # The last of what a generator of problems gives is said.
                self.set[_name(node.target.elts[-1])].append(node.iter)


def _returned(function: _Function) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value is not None:
            yield node.value.elts[-1] if isinstance(node.value, ast.Tuple) else node.value


class _Package:
    def __init__(self, place: Path) -> None:
        self.sources = [
            _Source(file, room)
            for file in sorted(place.rglob("*.py"))
            if (room := file.relative_to(place).parts[0]) in ROOMS
        ]
        self.functions: dict[str, list[tuple[_Source, _Function]]] = defaultdict(list)
        self.constants: dict[str, list[tuple[_Source, ast.expr]]] = defaultdict(list)
        for source in self.sources:
            for name, held in source.functions.items():
                self.functions[name] += [(source, one) for one in held]
            for name, values in source.set.items():
                if name.isupper():
                    self.constants[name] += [(source, one) for one in values]
        self.handed = self._handed()

    def wordings(self, node: ast.expr, source: _Source, left: int = _DEEPEST) -> set[str]:
        """The ways in which a message may be worded."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return {node.value}
        if isinstance(node, ast.JoinedStr):
            own = {"".join(part.value if isinstance(part, ast.Constant) else GAP for part in node.values)}
            if _is_message(next(iter(own))) or not left:
                return own
            return self._joined(
                [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values], source, left
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined([node.left, node.right], source, left)
        if isinstance(node, ast.IfExp):
            return self.wordings(node.body, source, left) | self.wordings(node.orelse, source, left)
        if left and (followed := self._followed(node, source)):
            return set().union(*(self.wordings(one, where, left - 1) for where, one in followed))
        return {GAP}

    def _joined(self, parts: list[ast.expr], source: _Source, left: int) -> set[str]:
        held = [sorted(self.wordings(part, source, left))[:_MOST] for part in parts]
        return {"".join(words) for _, words in zip(range(_MOST), product(*held), strict=False)}

    def _followed(self, node: ast.expr, source: _Source) -> list[tuple[_Source, ast.expr]]:
        """What a name was set to, or a function returns."""
        if isinstance(node, ast.Name):
            return [(source, one) for one in source.set[node.id]] or self.constants[node.id]
        if isinstance(node, ast.Call):
            name = _name(node.func)
            held = [(source, one) for one in source.functions[name]] or self.functions[name]
            return [(where, value) for where, one in held for value in _returned(one)]
        return []

    def _handed(self) -> dict[str, set[int]]:
        """Functions that make an error of what they are handed: the places of those arguments, ``self`` not counted."""
        found: dict[str, set[int]] = defaultdict(set)
        for name, held in self.functions.items():
            for _, function in held:
                names = [one.arg for one in function.args.args if one.arg != "self"]
                found[name] |= {names.index(said.id) for said in _said(function) if _name(said) in names}
        return {name: places for name, places in found.items() if places}

    def messages(self, source: _Source) -> set[str]:
        """The messages of one file."""
        nodes = list(_said(source.tree))
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call):
                nodes += [node.args[place] for place in self.handed.get(_name(node.func), ()) if place < len(node.args)]
        return {" ".join(text.split()) for node in nodes for text in self.wordings(node, source)}


def _said(tree: ast.AST) -> Iterator[ast.expr]:
    """What exceptions are made with and warnings given, of one tree."""
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = _name(call.func)
        if name in ("KeyError", "IndexError", "AttributeError"):  # never shown: caught where they are raised
            continue
        if name == "PolicyError" and len(call.args) > 1:
            yield call.args[1]
        elif isinstance(node, ast.Raise) or name == "warn" or name.endswith("Error"):
            yield call.args[0]


def _is_message(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= _FEWEST


@cache
def messages() -> dict[str, list[str]]:
    """Errors and warnings by room, each once, in order of their words."""
    package = _Package(Path(biasamp.__file__).parent)
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for source in package.sources:
        found[source.room] |= {text for text in package.messages(source) if _is_message(text)}
    return {room: sorted(held, key=lambda text: text.lstrip(GAP + " .,:;(").lower()) for room, held in found.items()}
