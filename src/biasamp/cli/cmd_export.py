"""``biasamp export``: a saved audit in the form that other systems take."""

from __future__ import annotations

from collections.abc import Callable

import click
from rich.text import Text

from biasamp.auditing.audit_result import Audit
from biasamp.data import printable

from .command_files import Command, Input, Output
from .output import console, write_data
from .role_options import Decorator


def _output(flag: str, ending: str, words: str) -> Decorator:
    return click.option(flag, type=Output(ending, stdout=True), metavar="FILE", help=words)


@click.command(name="export", cls=Command)
@click.argument("audit", type=Input())
@_output("--model-card", ".md", "Write a Hugging Face model card with model-index; needs --name.")
@_output("--croissant", ".json", "Write Croissant metadata with the fields for responsible AI.")
@_output("--ai-act", ".md", "Write the headings of Annex IV 2(g) and Art. 10(2)(f) of the EU AI Act with the figures.")
@_output("--markdown", ".md", "Write the section on bias of a model card.")
@click.option("--name", help="The name of the model in a model card.")
@click.option("--dataset", help="The name of the data, in a model card and in Croissant.")
def command(
    audit: str,
    model_card: str | None,
    croissant: str | None,
    ai_act: str | None,
    markdown: str | None,
    name: str | None,
    dataset: str | None,
) -> None:
    """Write AUDIT, which `biasamp audit --save` or `--json` wrote, in the form that other systems take.

    \b
    Examples:
      biasamp export audit.json.gz --model-card README.md --name org/model --dataset org/data
      biasamp export audit.json.gz --croissant croissant.json --ai-act annex_iv.md
    """
    if model_card is None and croissant is None and ai_act is None and markdown is None:
        raise click.UsageError("name what to write: --model-card, --croissant, --ai-act or --markdown")
    if model_card is not None and name is None:
        raise click.UsageError("--model-card needs --name, the name of the model")
    held = Audit.load(audit)
    written: dict[str | None, Callable[[], str]] = {
        model_card: lambda: held.to_model_card(name=name or "", dataset=dataset),
        croissant: lambda: held.to_croissant(name=dataset),
        ai_act: held.to_ai_act,
        markdown: held.to_markdown,
    }
    taken = False
    for path, text in written.items():
        if path is not None:
            taken = write_data(text(), path) or taken
    if not taken:
        names = ", ".join(printable(path, 200) for path in written if path is not None)
        console().print(Text(f"written: {names}"))
