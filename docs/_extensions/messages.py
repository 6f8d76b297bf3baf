"""Every message of the package as a page: ``{all-messages}``."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from message_list import ROOMS, messages
from sphinx.util.docutils import SphinxDirective


class AllMessages(SphinxDirective):
    """A section for every room, with its messages."""

    def run(self) -> list[nodes.Node]:
        sections: list[nodes.Node] = []
        for room, held in messages().items():
            if not held:
                continue
            section = nodes.section(ids=[f"messages-{room}"], names=[ROOMS[room]])
            section += nodes.title("", ROOMS[room])
            listed = nodes.bullet_list()
            for text in held:
                item = nodes.list_item()
                item += nodes.paragraph("", text)
                listed += item
            section += listed
            sections.append(section)
        return sections


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("all-messages", AllMessages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
