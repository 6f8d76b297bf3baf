"""The command line."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress

import click

from biasamp import __version__

from .standard_streams import flush_streams, prepare_streams, signals_unwind

USAGE = 2
INTERRUPTED = 130


class Commands(click.Group):
    """Imports a command when it is used, so that ``--help`` and completion stay quick."""

    places = {
        "associate": "Rank labels by how they lean to identities, without ground truth.",
        "audit": "Audit a file or folder of labels and predictions.",
        "calibrate": "Find thresholds at which scores are positive as often as they should be.",
        "check": "Hold data to a policy: pass, fail or not enough evidence, for CI.",
        "choose-thresholds": "Find the best thresholds whose amplification stays below a limit.",
        "compare": "Compare models, from saved audits or from one file.",
        "count": "Count data where it is; only the counts need to travel.",
        "demo": "Audit embedded real data: Berkeley admissions, 1973.",
        "explore": "Look through saved results in a browser.",
        "export": "Write a saved audit as model card, dataset metadata or documentation.",
        "impact": "Tabulate selection or scoring rates of groups and their ratios.",
        "merge": "Add up saved counts of different records.",
        "metrics": "Show what each metric measures and which to use.",
        "reproduce": "Run the papers' tables and figures again: published beside measured.",
        "sweep": "Measure amplification at every threshold of scores.",
        "text": "Audit texts: words that go with groups, and what they give away.",
        "trajectory": "Follow figures over windows, generations or checkpoints.",
        "try": "Open a page that audits a file in the browser, offline.",
        "verify": "Say whether the figures of a saved audit are those of some data.",
        "why": "Split amplification into scores and threshold, and look inside strata.",
    }

    # Commands that stand in the file of another one, or one whose name is spelled otherwise.
    shared = {
        "choose-thresholds": ("choose_thresholds", "command"),
        "demo": ("audit", "demo"),
        "merge": ("count", "merge"),
        "sweep": ("calibrate", "sweep"),
    }

    def list_commands(self, context: click.Context) -> list[str]:
        """The commands, in alphabetical order."""
        return sorted(self.places)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """One command, imported now."""
        if name not in self.places:
            return None
        from importlib import import_module

        module, command = self.shared.get(name, (name, "command"))
        from .command_files import Command

        found = getattr(import_module(f"biasamp.cli.cmd_{module}"), command)
        if not isinstance(found, Command):
            raise TypeError(f"the command {name!r} is no Command, which checks what it reads and writes")
        return found

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.places[name]) for name in self.list_commands(context)])

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Offer the nearest name for one that is not known; refuse an option given twice, whose first value is lost."""
        try:
            name, command, rest = super().resolve_command(context, args)
            if command is not None:
                _refuse_repeats(command, rest)
            return name, command, rest
        except click.UsageError as error:
            import difflib

            known = self.list_commands(context)
            near = [] if args[0] in known else difflib.get_close_matches(args[0], known, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", context) from None


def _refuse_repeats(command: click.Command, args: list[str]) -> None:
    given = [arg.partition("=")[0] for arg in (args[: args.index("--")] if "--" in args else args)]
    for option in command.params:
        if not isinstance(option, click.Option) or option.multiple or option.is_flag or option.count:
            continue
        for name in option.opts:
            if name.startswith("--") and given.count(name) > 1:
                listed = "; several names are separated by commas" if option.type is click.STRING else ""
                raise click.UsageError(f"{name} is given {given.count(name)} times{listed}")


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="biasamp")
def group() -> None:
    """Measure how much a model amplifies the bias of its data.

    \b
    Examples:
      biasamp demo
      biasamp audit predictions.parquet --attributes gender --tasks cooking --task-predictions cooking_pred
      biasamp metrics directional

    Shell completion: eval "$(_BIASAMP_COMPLETE=bash_source biasamp)" (or zsh_source, fish_source).
    """


def _note(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """A warning as a line for people, without the place in the code that it came from."""
    if issubclass(category, UserWarning):
        from biasamp.data import printable

        from .option_words import in_options

        _say(f"biasamp: note: {printable(in_options(str(message)), 1000)}")


def main() -> None:
    """Run the command line; a mistake in the input is a message and exit code 2, never a traceback."""
    warnings.showwarning = _note
    prepare_streams()
    with signals_unwind():
        code = _run()
    lost = flush_streams()
    if lost is not None:
        _say(f"biasamp: standard output cannot be written: {lost.strerror or lost}")
        code = USAGE
    if code:
        sys.exit(code)


def _refuse_surroundings() -> None:
    """Say of what a process is started with, but does not name, that it is wrong."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    # Libraries read it too, when they are imported.
    if fixed and not (fixed.isascii() and fixed.isdigit()):
        raise ValueError(f"the environment's SOURCE_DATE_EPOCH is {fixed!r}; whole seconds since 1970 are needed")
    try:
        os.getcwd()
    except FileNotFoundError:
        raise ValueError("the folder that this command was started in is not there any more; go to another") from None


def _run() -> int:
    """The exit code of the command line."""
    try:
        _refuse_surroundings()
        # Outside standalone mode an exit code asked for by a command is returned, not raised.
        code = group.main(prog_name="biasamp", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except click.Abort:
        _say("stopped")
        return INTERRUPTED
    except click.ClickException as error:
        with suppress(OSError):
            error.show(file=sys.stderr)
        return error.exit_code
    except MemoryError:
        _say("biasamp: the data do not fit in memory")
    except (ValueError, TypeError, OSError, ImportError) as error:
        if isinstance(error, ImportError) and "pip install" not in str(error):
            raise
        from biasamp.data import printable

        from .option_words import in_options

        _say(f"biasamp: {printable(in_options(str(error)), 2000)}")
    return USAGE


def _say(message: str) -> None:
    # To the stream itself: without one named, click writes UTF-8 where the stream says ASCII.
    with suppress(OSError):  # an exit code can still tell
        click.echo(message, file=sys.stderr)
