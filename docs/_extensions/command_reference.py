"""The reference of the command line, from the commands themselves: ``{command-reference}``."""

from __future__ import annotations

from typing import Any

import click
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from biasamp.cli import group


def _options(command: click.Command) -> nodes.option_list:
    listed = nodes.option_list()
    for parameter in command.params:
        record = parameter.get_help_record(click.Context(command)) if isinstance(parameter, click.Option) else None
        if record is None:
            continue
        names, words = record
        item = nodes.option_list_item()
        group_ = nodes.option_group()
        option = nodes.option()
        option += nodes.option_string("", names)
        group_ += option
        description = nodes.description()
        description += nodes.paragraph("", words)
        item += group_
        item += description
        listed += item
    return listed


class CommandReference(SphinxDirective):
    """A section for every command: usage, what it does, its options."""

    def run(self) -> list[nodes.Node]:
        context = click.Context(group, info_name="biasamp")
        sections: list[nodes.Node] = []
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            own = click.Context(command, info_name=name, parent=context)
            section = nodes.section(ids=[f"biasamp-{name}"], names=[f"biasamp {name}"])
            section += nodes.title("", f"biasamp {name}")
            usage = command.get_usage(own).removeprefix("Usage: ")
            section += nodes.literal_block(usage, usage, language="text")
            section += self._help(command.help or "")
            section += _options(command)
            sections.append(section)
        return sections

    def _help(self, text: str) -> list[nodes.Node]:
        """The help of a command; paragraphs that begin with click's mark keep their lines."""
        found: list[nodes.Node] = []
        import inspect

        for paragraph in inspect.cleandoc(text).split("\n\n"):
            if paragraph.startswith("\b"):
                kept = paragraph.removeprefix("\b").strip("\n")
                found.append(nodes.literal_block(kept, kept, language="text"))
            else:
                found.append(nodes.paragraph("", " ".join(paragraph.split())))
        return found


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
