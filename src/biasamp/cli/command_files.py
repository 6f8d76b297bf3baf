"""What a command reads and what it writes, held against each other before anything runs.

Every parameter of a command that names a file or a folder has one of the types of this module, and every command is a
:class:`Command`, which collects them: a file is never written over one that is read, nor two results to one file.
"""

from __future__ import annotations

import glob
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click

from biasamp.data import printable
from biasamp.data.formats import find_format

from .piped_input import DASH, STDIN, is_piped, is_stdin, kept

STDOUT = "-"
Params = Mapping[str, Any]
# Endings of names that tell people, and programs, what a file holds.
_ENDING = re.compile(
    r"\.(jsonl?|ndjson|gz|zip|html?|md|markdown|xml|[ct]sv|txt|toml|ya?ml|parquet|feather|arrow|ipc|xlsx?|ods|png|svg|pdf|jpg"
    r"|np[yz]|pkl|pickle|db|sqlite|py|ipynb)",
    re.IGNORECASE,
)


class Use(NamedTuple):
    """A file or folder that a command reads or writes."""

    option: str  # as the user knows it: --train, DATA
    path: str
    writes: bool = False
    names: tuple[str, ...] = ()  # of a folder: patterns of the files that are written there
    new: bool = False  # whether it must not be there yet
    endings: tuple[str, ...] = ()  # of a file that is written: what its name may end in


class Input(click.Path):
    """A file or folder that is read.

    ``find`` gives the paths in a value that is more than one path, by what they are called in messages (nothing: the
    parameter's own name). ``records`` says that it holds records, whose format options may describe, ``logs`` that logs of
    evaluation harnesses are read too.
    """

    def __init__(
        self, find: Callable[[str], Mapping[str, str]] | None = None, *, records: bool = False, logs: bool = False
    ) -> None:
        super().__init__(allow_dash=True)
        self._find, self.records, self.logs = find, records, logs

    def uses(self, option: str, value: str, params: Params) -> Iterator[Use]:
        """What a value makes the command read."""
        found = {"": value} if self._find is None else self._find(value)
        for name, path in found.items():
            yield Use(name or option, STDIN if path == DASH else path)

    def is_piped(self, value: str) -> bool:
        """Whether a value is standard input or a pipe, whose content is kept in a file while the command runs."""
        return self._find is None and is_piped(value)


class Output(click.Path):
    """A file that is written, whose name ends as one of ``endings`` or says nothing of what it holds.

    With ``stdout``, ``-`` is standard output.
    """

    def __init__(self, *endings: str, stdout: bool = False) -> None:
        super().__init__(allow_dash=stdout)
        self._endings = endings

    def uses(self, option: str, value: str, params: Params) -> Iterator[Use]:
        """What a value makes the command write."""
        if value == STDOUT and not self.allow_dash:
            raise click.UsageError(f"{option} does not go to standard output: name a file")
        yield Use(option, value, writes=True, endings=self._endings)


class OutputFolder(click.Path):
    """A folder that files are written to, and made where it is missing.

    ``names`` are patterns of those files, which the command's other parameters may decide; none: nothing is written.
    ``extra`` is the package that writes them, by the name of the extra that brings it.
    """

    def __init__(
        self, names: Sequence[str] | Callable[[Params], Sequence[str]], extra: tuple[str, str] | None = None
    ) -> None:
        super().__init__(file_okay=False)
        self._names, self._extra = names, extra

    def uses(self, option: str, value: str, params: Params) -> Iterator[Use]:
        """What a value makes the command write."""
        if self._extra is not None and find_spec(self._extra[1]) is None:
            raise click.UsageError(
                f"{option} needs the extra {self._extra[0]!r}: pip install 'biasamp[{self._extra[0]}]'"
            )
        names = self._names(params) if callable(self._names) else self._names
        if names:
            yield Use(option, value, writes=True, names=tuple(names))


class Command(click.Command):
    """A command that checks what it reads and writes before it runs."""

    def uses(self, params: Params) -> list[Use]:
        """Every file and folder that the command reads or writes with these values of its parameters."""
        out: list[Use] = []
        for param in self.params:
            value = params.get(param.name or "")
            if value is None or not isinstance(param.type, (Input, Output, OutputFolder)):
                continue
            for one in value if isinstance(value, tuple) else (value,):
                out.extend(param.type.uses(_name(param), one, params))
        return out

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Read the command line, which audits keep as how they were made."""
        context.meta[_WORDS] = [*context.command_path.split(), *args]
        return super().parse_args(context, args)

    def invoke(self, context: click.Context) -> Any:
        """Run the command, once what it reads and writes is known to be apart."""
        from biasamp.auditing.provenance import made_by_command
        from biasamp.data.ways_out import COMMANDS, speaking_to

        check_uses(self.uses(context.params))
        with ExitStack() as files, speaking_to(COMMANDS), made_by_command(context.meta.get(_WORDS, ())):
            if self._keep_piped(context.params, files):
                # What came through a pipe may itself name files.
                check_uses(self.uses(context.params))
            self._read_logs(context, files)
            self._convert(context, files)
            self._expand(context.params)
            return super().invoke(context)

    def _keep_piped(self, params: dict[str, Any], files: ExitStack) -> bool:
        """Put files in the place of standard input and pipes, which are gone once they are read; whether there were any."""
        inputs = [param for param in self.params if isinstance(param.type, Input) and params.get(param.name or "")]
        given: list[str] = []
        for param in inputs:
            value, name = params[param.name or ""], param.name or ""
            kept_values = []
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(param.type, Input) and param.type.is_piped(one):
                    if is_stdin(one) and any(map(is_stdin, given)):
                        raise click.UsageError(f"{_name(param)}: standard input can be read once: name a file")
                    given.append(one)
                    one = files.enter_context(kept(one, _name(param)))
                kept_values.append(one)
            params[name] = tuple(kept_values) if isinstance(value, tuple) else kept_values[0]
        return bool(given)

    def _read_logs(self, context: click.Context, files: ExitStack) -> None:
        """Put tables in the place of logs of evaluation harnesses."""
        params = [param for param in self.params if isinstance(param.type, Input) and param.type.logs]
        if not params:
            return
        from biasamp.text.eval_log import is_eval_log

        from .log_options import FILTER, as_table

        chosen, used = context.params.pop(FILTER, None), False
        for param in params:
            value = context.params.get(param.name or "")
            if isinstance(value, str) and is_eval_log(value):
                kept_as = files.enter_context(as_table(value, chosen))
                context.meta.setdefault(_GIVEN, {})[kept_as] = value
                context.params[param.name or ""], used = kept_as, True
        if chosen is not None and not used:
            raise click.UsageError("--log-filter: the command reads no log of an evaluation harness")

    def _convert(self, context: click.Context, files: ExitStack) -> None:
        """Put plain files in the place of those that options say how to read."""
        from .reading_options import Reading, converted, formats_in

        reading = Reading.taken_from(context.params)
        if not reading.concerned:
            return
        used: set[str] = set()
        for param in self.params:
            value, name = context.params.get(param.name or ""), param.name or ""
            if value is None or not isinstance(param.type, Input) or not param.type.records:
                continue
            plain = []
            for one in value if isinstance(value, tuple) else (value,):
                formats = formats_in(one) & set(reading.concerned)
                used |= formats
                if formats:
                    kept_as = files.enter_context(converted(one, reading))
                    context.meta.setdefault(_GIVEN, {})[kept_as] = one
                    one = kept_as
                plain.append(one)
            context.params[name] = tuple(plain) if isinstance(value, tuple) else plain[0]
        reading.check_used(used)

    def _expand(self, params: dict[str, Any]) -> None:
        """Put names of columns in the place of patterns such as obj_*."""
        records = next(
            (param.name or "" for param in self.params if isinstance(param.type, Input) and param.type.records), ""
        )
        value = params.get(records)
        path = value[0] if isinstance(value, tuple) and len(value) == 1 else value
        if isinstance(path, str):
            from .column_patterns import expand_patterns

            expand_patterns(params, path, {param.name or "": _name(param) for param in self.params})


_GIVEN = "biasamp.given_paths"
_WORDS = "biasamp.command_line"


def given_path(path: str) -> str:
    """The path that the user gave, for one whose content is kept in a temporary file."""
    context = click.get_current_context(silent=True)
    return path if context is None else str(context.meta.get(_GIVEN, {}).get(path, path))


def _name(param: click.Parameter) -> str:
    return max(param.opts, key=len) if isinstance(param, click.Option) else (param.name or "").upper()


def check_uses(uses: Sequence[Use]) -> None:
    """Refuse outputs that cannot be written, that are an input, or that are one file; exit code 2."""
    read, written = [use for use in uses if not use.writes], [use for use in uses if use.writes]
    for use in read:
        if not use.path:  # it would be the folder that the command is run in
            raise click.UsageError(f"{use.option} is empty: name a file")
    targets = [target for use in written for target in _targets(use)]
    made = [target.real for target in targets if target.names]
    for target in targets:
        _check_writable(target, made)
    targets += _redirected()
    for target in targets:
        for use in read:
            _check_apart(target, use)
    for i, one in enumerate(targets):
        for other in targets[:i]:
            if one.option != other.option and one.clashes(other):
                raise click.UsageError(f"{other.option} and {one.option} would write to the same file: name two files")
    for use in written:
        _check_ending(use)


def _check_ending(use: Use) -> None:
    """Refuse a name that says that the file holds something else."""
    path = Path(use.path)
    if use.endings and _ENDING.fullmatch(path.suffix) and not path.name.lower().endswith(use.endings):
        stem = path
        while _ENDING.fullmatch(stem.suffix):
            stem = stem.with_suffix("")
        raise click.UsageError(
            f"{use.option} writes {' or '.join(use.endings)}, and {printable(path.name)!r} says that it holds something else: "
            f"call it {printable(stem.name + use.endings[0])!r}"
        )


class _Target(NamedTuple):
    """One place that is written to: a file, or the files of some names in a folder."""

    option: str
    path: str
    place: os.stat_result | None  # what is there now, links followed
    names: tuple[str, ...] = ()
    is_stream: bool = False

    @property
    def shown(self) -> str:
        return f"{self.option} {self.path!r}" if self.path else self.option

    @property
    def real(self) -> Path:
        return Path(os.path.realpath(self.path))

    def clashes(self, other: _Target) -> bool:
        """Whether two targets are one file, there already or not yet."""
        if self.names or other.names:
            return self._in_folder_of(other) or other._in_folder_of(self) or self._shares_folder(other)
        if self.is_stream and other.is_stream:
            # Standard error may go where standard output goes; two results may not.
            return self.path == other.path == STDOUT
        if self.place is not None and other.place is not None:
            return not stat.S_ISCHR(self.place.st_mode) and os.path.samestat(self.place, other.place)
        return self.place is other.place is None and _same_name(self.real, other.real)

    def _in_folder_of(self, folder: _Target) -> bool:
        """Whether this file is one that will be written to the folder."""
        if self.names or not folder.names or self.is_stream:
            return False
        return _matches(self.real.name, folder.names) and _same_folder(self.real.parent, folder.real)

    def _shares_folder(self, other: _Target) -> bool:
        return bool(set(self.names) & set(other.names)) and _same_folder(self.real, other.real)


def _targets(use: Use) -> Iterator[_Target]:
    if use.path == STDOUT and not use.names:
        yield _Target(use.option, STDOUT, _stat_of(1), is_stream=True)
        return
    if not use.path:
        raise click.UsageError(f"{use.option} is empty: name a {'folder' if use.names else 'file'}")
    try:
        place = os.stat(use.path)
    except FileNotFoundError:
        place = None
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{use.option} {use.path!r} cannot be written: {_reason(error)}") from None
    if use.new and place is not None:
        raise click.UsageError(f"{use.path!r} exists; name a new file, or remove it first")
    yield _Target(use.option, use.path, place, use.names)
    if use.names and place is not None and stat.S_ISDIR(place.st_mode):
        # What stands in the folder may be a link to something that is read.
        with suppress(OSError):
            for entry in os.scandir(use.path):
                if _matches(entry.name, use.names):
                    with suppress(OSError):
                        yield _Target(use.option, entry.path, entry.stat())


def _redirected() -> list[_Target]:
    """Standard output and error, where a shell sends them to a file."""
    found = [_Target(name, "", _stat_of(number), is_stream=True) for number, name in _STREAMS.items()]
    return [target for target in found if target.place is not None and stat.S_ISREG(target.place.st_mode)]


_STREAMS = {1: "standard output", 2: "standard error"}


def _stat_of(number: int) -> os.stat_result | None:
    with suppress(OSError):
        return os.fstat(number)
    return None


def _check_writable(target: _Target, made: Sequence[Path]) -> None:
    if target.is_stream:
        return
    if target.names:
        folder = next(place for place in (target.real, *target.real.parents) if os.path.lexists(place))
        if not folder.is_dir():
            raise click.UsageError(f"{target.shown} cannot be made: {str(folder)!r} is a file")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise click.UsageError(f"{target.shown} cannot be written: {str(folder)!r} does not allow it")
        return
    if target.place is not None and stat.S_ISDIR(target.place.st_mode):
        raise click.UsageError(f"{target.shown} is a folder; name a file in it to write to")
    if target.path.endswith((os.sep, os.altsep or os.sep)):
        raise click.UsageError(f"{target.shown} names a folder; name a file in it to write to")
    if target.place is not None and not os.access(target.path, os.W_OK):
        raise click.UsageError(f"{target.shown} cannot be written: it is read-only")
    if target.place is not None and not stat.S_ISREG(target.place.st_mode):
        return
    folder = target.real.parent
    if folder in made:
        return
    if not folder.is_dir():
        raise click.UsageError(f"the folder of {target.shown} does not exist; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.UsageError(f"{target.shown} cannot be written: its folder does not allow new files")


def _check_apart(target: _Target, use: Use) -> None:
    """Refuse a target that is an input or part of one, or that the pattern of one would find next time."""
    if _is_found_by(target, use.path):
        raise click.UsageError(
            f"{target.shown} is a name that {use.option} finds, and would be read next time: name a place elsewhere"
        )
    for path in dict.fromkeys((use.path, os.path.expanduser(use.path))):
        try:
            held = os.stat(path)
        except (OSError, ValueError):
            continue
        if target.place is not None and os.path.samestat(target.place, held) and not stat.S_ISCHR(held.st_mode):
            _keep_words_from(held)
            raise click.UsageError(
                f"{target.shown} is what is read as {use.option}: name another "
                f"{'folder' if target.names else 'file'}, so that it is not overwritten"
            )
        if stat.S_ISDIR(held.st_mode) and _is_inside(target, path, held):
            raise click.UsageError(
                f"{target.shown} is in the folder that is read as {use.option}, {use.path!r}, and would be taken for "
                "data next time: name a place elsewhere"
            )


def _is_found_by(target: _Target, pattern: str) -> bool:
    """Whether a file that is written has a name that a pattern of inputs, such as ``runs/*.json``, finds."""
    if target.is_stream or target.names or os.path.exists(pattern) or not glob.has_magic(pattern):
        return False
    folder, names = os.path.split(os.path.abspath(pattern))
    folders = glob.glob(folder) if glob.has_magic(folder) else [folder]
    return _matches(target.real.name, [names]) and any(
        _same_folder(target.real.parent, Path(place)) for place in folders
    )


def _keep_words_from(held: os.stat_result) -> None:
    """Let nothing more be written to what is read, where a shell sends words there; also not why it is refused."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        there = _stat_of(number)
        if there is not None and os.path.samestat(there, held):
            spoken = name == "stderr" and not os.path.samestat(os.fstat(1), held)
            setattr(sys, name, sys.stdout if spoken else open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _is_inside(target: _Target, folder: str, held: os.stat_result) -> bool:
    """Whether a target is in a folder, by its path or, where it has other names (links), by what it is."""
    if not target.is_stream:
        for parent in target.real.parents:
            with suppress(OSError):
                if os.path.samestat(parent.stat(), held):
                    return True
    if target.place is None or not stat.S_ISREG(target.place.st_mode):
        return False
    for root, _, names in os.walk(folder):
        for name in names:
            # A shell may send text to the folder, which is no data.
            if target.is_stream and find_format(Path(name)) is None:
                continue
            with suppress(OSError):
                if os.path.samestat(os.stat(os.path.join(root, name)), target.place):
                    return True
    return False


def _matches(name: str, patterns: Sequence[str]) -> bool:
    """Whether a name is one of some patterns, in small or capital letters: file systems may not tell them apart."""
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def _same_folder(one: Path, two: Path) -> bool:
    try:
        return os.path.samefile(one, two)
    except OSError:
        return _same_name(one, two)


def _same_name(one: Path, two: Path) -> bool:
    """Whether two paths that are not there yet would be one file."""
    if one == two:
        return True
    folded = [unicodedata.normalize("NFC", str(path)).casefold() for path in (one, two)]
    return folded[0] == folded[1] and _folds(one)


def _folds(path: Path) -> bool:
    """Whether the file system takes small and capital letters for the same, as on macOS and Windows."""
    for place in (path, *path.parents):
        swapped = place.with_name(place.name.swapcase()) if place.name else place
        if swapped != place and place.exists():
            return swapped.exists() and os.path.samefile(place, swapped)
    return sys.platform in ("darwin", "win32")


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
