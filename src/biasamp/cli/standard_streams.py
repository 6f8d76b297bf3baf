"""Standard output and error as shells really give them: of any encoding, closed, or with a reader that goes away.

None of that changes what a command returns: the exit code is that of its result. Signals that end a process do so as
Ctrl+C does, so that temporary files are taken away.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# The reader of a pipe is gone (EINVAL is how Windows says it), or the stream was closed behind our back.
_GONE = (errno.EPIPE, errno.ESHUTDOWN, errno.EBADF, *((errno.EINVAL,) if os.name == "nt" else ()))
_ERRORS = "biasamp-plain"

# What is shown instead of signs that an encoding lacks; other letters become escapes, which tell them apart.
_PLAIN = {
    "→": "->",
    "←": "<-",
    "↔": "<->",
    "⇒": "=>",
    "±": "+/-",
    "×": "x",
    "−": "-",
    "²": "^2",
    "√": "sqrt",
    "·": "*",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "≈": "~",
    "∞": "inf",
    "Ψ": "Psi",
    "τ": "tau",
    "α": "alpha",
    "\u0302": "^",
    "…": "...",
    "–": "-",
    "—": "-",
    "•": "*",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "«": '"',
    "»": '"',
    "✅": "[pass]",
    "❌": "[fail]",
    "⚠": "[!]",
    "▲": "^",
    "▼": "v",
    "◇": "o",
    "✓": "yes",
    "✗": "no",
    "\ufe0f": "",
    "\u00a0": " ",
    "\u202f": " ",
    **dict.fromkeys("█▉▊▋▌▍▎▏▐▀▄■", "#"),
    **dict.fromkeys("░▒▓", "."),
    **dict.fromkeys("─━═╌┄╴╶╸╺", "-"),
    **dict.fromkeys("│┃║╎┆╵╷", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬┡┩╇", "+"),
}


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    """What takes the place of characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    shown = [
        _PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode()
        for sign in lacking
        if _PLAIN.get(sign) != ""
    ]
    return "".join(shown), error.end


codecs.register_error(_ERRORS, _in_plain)


def is_utf8(encoding: str | None) -> bool:
    """Whether an encoding has every character."""
    try:
        return encoding is None or codecs.lookup(encoding).name.startswith("utf")
    except LookupError:
        return False


def plain_text(text: str, encoding: str) -> str:
    """Text as a stream of some encoding shows it.

    >>> plain_text("A→T, 50 ± 1, café", "ascii")
    'A->T, 50 +/- 1, caf\\\\xe9'
    """
    return text.encode(encoding, _ERRORS).decode(encoding)


class _Kept(io.FileIO):
    """A stream whose reader may go away: what is written then goes nowhere, and the command goes on to its end."""

    def write(self, data: Any) -> int:
        """How much was written, or would have been."""
        try:
            return super().write(data) or 0
        except OSError as error:
            if error.errno not in _GONE:
                raise
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Make standard output and error take any text, whoever reads it."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # A file opened later would get the number of the closed stream, and take what is meant for that.
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or stream.closed:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8", errors=_ERRORS))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            raw = getattr(stream.buffer, "raw", stream.buffer)  # the buffer itself with PYTHONUNBUFFERED
            if type(raw) is io.FileIO and not stream.isatty():
                setattr(sys, name, _kept(stream))
            else:
                stream.reconfigure(errors=_ERRORS)


def _kept(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    stream.flush()
    raw = _Kept(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=_ERRORS,
        line_buffering=stream.line_buffering or stream.write_through or stream is sys.stderr,
    )


def flush_streams() -> OSError | None:
    """Write what is left, and give the error of standard output where that cannot be done, as on a full disk."""
    found = None
    for name, number in (("stderr", 2), ("stdout", 1)):
        try:
            getattr(sys, name).flush()
        except (OSError, ValueError) as error:
            found = error if isinstance(error, OSError) else None
            # The interpreter flushes again when it ends, and must not fail again.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    return found


@contextmanager
def signals_unwind() -> Iterator[None]:
    """While this lasts, signals that end the process do it by an exit, which takes temporary files away."""

    def stop(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        # What somebody ignores, as nohup does, stays ignored; threads other than the main one cannot ask.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
