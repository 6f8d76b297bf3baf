"""``biasamp text``: what generated texts say of groups, and what they give away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from biasamp.association.metrics import usual_metric
from biasamp.report.association_tables import show_association
from biasamp.report.explorer_document import write_explorer
from biasamp.report.text_terminal import show_counterfactual, show_found, show_leakage
from biasamp.results.checksums import json_text, with_checksum
from biasamp.text.lexicon import WORDS

from .cmd_associate import read_identities
from .command_files import Command, Input, given_path
from .log_options import log_options
from .output import console, csv_option, csv_taken, html_option, json_option, write_json
from .reading_options import reading_options
from .role_options import choice_option, number_option, split_names


@click.command(name="text", cls=Command)
@click.argument("data", type=Input(records=True, logs=True))
@click.option(
    "--text",
    help="The column of texts; several, comma separated, are models on the same records.  [default: answer, of a log]",
)
@click.option("--attribute", help="The column of groups.")
@click.option("--references", help="The column of human texts, for LIC_D.")
@click.option(
    "--mask",
    "mask",
    default="auto",
    show_default=True,
    help="Words that name the attribute: lic, helm, weat, captions, none, or a list with commas.",
)
@choice_option("--attacker", ["logistic", "naive_bayes", "lstm"], "Who guesses the attribute from the texts.")
@number_option("--seeds", 10, "Random splits into texts to learn from and texts to score.")
@click.option("--cluster", help="The column that says which texts belong together, such as an image.")
@click.option(
    "--item",
    help="The column of items, where the same item was asked of every group: answers are compared item by item.",
)
@click.option(
    "--answer", help="With --item: the column of scores, yes/no answers or categories.  [default: score, of a log]"
)
@click.option("--topic", help="With --item: the column of topics.")
@click.option("--reference", help="With --item: the group that others are compared with.")
@click.option(
    "--identities",
    "-i",
    multiple=True,
    help="Words of identities: lic, helm, weat or captions, or NAME=WORD,WORD,...; may be repeated.",
)
@click.option(
    "--labels",
    multiple=True,
    help="Words to look for, comma separated, or NAME=WORD,WORD,...; may be repeated.  [default: all words]",
)
@click.option("--no-plurals", is_flag=True, help="Texts are not English: plurals are other words.")
@number_option("--top", 10, "How many words a table shows; 0 for none.")
@csv_option("one row per word (with --item, per comparison)")
@log_options
@html_option
@json_option
@reading_options
def command(
    data: str,
    text: str | None,
    attribute: str | None,
    identities: tuple[str, ...],
    labels: tuple[str, ...],
    item: str | None,
    no_plurals: bool,
    top: int,
    csv_path: str | None,
    html_path: str | None,
    json_path: str | None,
    **options: Any,
) -> None:
    """Audit the texts in DATA: which words go with which group, and what they give away.

    DATA is a file or folder of texts (CSV, Parquet, JSON lines, ...), or the log of an evaluation harness (lm-evaluation-harness, Inspect,
    promptfoo, HELM). With --attribute an attacker guesses the group from the texts once its words are masked (LIC), and words are
    ranked by how they lean to groups (of several columns of texts, those of the first); with --item too, answers to the same items are
    compared. With --identities groups are those that texts name.

    \b
    Examples:
      biasamp text captions.csv --text caption --attribute gender
      biasamp text captions.parquet --text old,new --attribute gender --references human --seeds 20
      biasamp text captions.csv --text caption -i lic --labels dog,cat --html words.html
      biasamp text logs/hiring.eval --attribute gender --item prompt
    """
    if top < 0:
        raise click.BadParameter("--top is a number of 0 or more")
    if attribute is None and not identities:
        raise click.UsageError(
            "name --attribute, the column of groups, or --identities, the words that name them in the texts"
        )
    if item is not None and attribute is None:
        raise click.UsageError("--item needs --attribute: the groups that items were asked of")
    for name in ("answer", "topic", "reference"):
        if options[name] is not None and item is None:
            raise click.UsageError(f"--{name} belongs to --item")
    parts: dict[str, Any] = {}
    screen = console()
    wanted = _labels(labels)
    if item is not None and attribute is not None:
        parts["counterfactual"] = _compared(data, text, attribute, item, wanted, options)
    else:
        if attribute is not None:
            parts["leakage"] = _leaked(data, text, attribute, options)
        parts["association"] = _associated(data, text, attribute, identities, wanted, not no_plurals)
    words = parts.get("association")
    if html_path is not None:
        if words is None:
            raise click.UsageError(
                "--html writes the words of texts, which --item does not count: leave one of them out"
            )
        write_explorer({Path(given_path(data)).name: words}, html_path)
    document = {"schema": 1, "kind": "text", **{name: part.to_dict() for name, part in parts.items()}}
    taken = json_path is not None and write_json(json_text(with_checksum(document)), json_path)
    if csv_path is not None:
        taken = csv_taken(parts["counterfactual"].table if words is None else words.table, csv_path) or taken
    if taken:
        return
    if "leakage" in parts:
        show_leakage(parts["leakage"], screen, top=top)
    if "counterfactual" in parts:
        show_counterfactual(parts["counterfactual"], screen, top=top)
    if words is not None:
        if attribute is None:
            show_found(_read(data, text, identities, wanted, not no_plurals), screen)
        show_association(words, screen, metric=usual_metric(words.metrics), top=top)


def _labels(labels: tuple[str, ...]) -> Any:
    """``--labels dog,cat`` or ``--labels couch=couch,sofa``; none: all words."""
    return read_identities(labels) if labels else None


def _identities(identities: tuple[str, ...]) -> Any:
    """The name of a list, or words by name."""
    from biasamp.text.gender_words import GENDER_WORDS

    if len(identities) == 1 and identities[0] in GENDER_WORDS:
        return identities[0]
    return read_identities(identities)


def _read(data: str, text: str | None, identities: tuple[str, ...], wanted: Any, plurals: bool) -> Any:
    import biasamp

    return biasamp.read_text(
        data, _identities(identities), WORDS if wanted is None else wanted, text=_one(data, text), plurals=plurals
    )


def _one(data: str, text: str | None) -> str | None:
    """The one column of texts."""
    from biasamp.data.files import file_schema, list_files

    if text is not None:
        names = split_names(text, "--text")
        if not isinstance(names, str):
            raise click.UsageError(
                f"--text names {len(names)} columns; words are read from one, and several are compared by --attribute alone"
            )
        return names
    path = Path(data)
    if path.suffix.lower() == ".txt":
        return None
    return "answer" if "answer" in file_schema(list_files(data)[0]).names else None


def _leaked(data: str, text: str | None, attribute: str, options: dict[str, Any]) -> Any:
    import biasamp

    names = split_names(text, "--text") if text is not None else _one(data, None)
    if names is None:
        raise click.UsageError("name the column of texts: --text")
    mask = options["mask"]
    if mask not in ("auto", "lic", "helm", "weat", "captions"):
        mask = None if mask == "none" else split_names(mask, "--mask")
        mask = [mask] if isinstance(mask, str) else mask
    texts = names if isinstance(names, str) else {name: name for name in names}
    arguments = {name: options[name] for name in ("references", "attacker", "seeds", "cluster")}
    return biasamp.text_leakage(texts, attribute, data=data, mask=mask, **arguments)


def _compared(data: str, text: str | None, attribute: str, item: str, wanted: Any, options: dict[str, Any]) -> Any:
    import biasamp
    from biasamp.data.files import file_schema, list_files

    answers = options["answer"]
    if wanted is not None:
        answers = answers or _one(data, text)
    elif answers is None:
        names = file_schema(list_files(data)[0]).names
        answers = next((name for name in ("score", text) if name in names), None)
    if answers is None:
        raise click.UsageError("name the column of answers: --answer, or --text with --labels")
    arguments = {name: options[name] for name in ("topic", "reference")}
    return biasamp.counterfactual(answers, attribute, item, data=data, labels=wanted, **arguments)


def _associated(
    data: str, text: str | None, attribute: str | None, identities: tuple[str, ...], wanted: Any, plurals: bool
) -> Any:
    import biasamp
    from biasamp.text.grouped_words import words_by_group

    if attribute is None:
        return biasamp.associate(_read(data, text, identities, wanted, plurals))
    names = split_names(text, "--text") if text is not None else _one(data, None)
    first = names if isinstance(names, str) or names is None else names[0]
    return words_by_group(data, first, attribute, WORDS if wanted is None else wanted, plurals)
