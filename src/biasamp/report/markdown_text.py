"""Text from strangers in Markdown."""

from __future__ import annotations

import re

from biasamp.data import printable

# Whatever Markdown or HTML gives a meaning to; a label must never be a link, an image or a tag. Dots and at signs
# would do no more than make a bare address or a mention of it, which hosts link by themselves.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&])")
_LINKED = re.compile(r"(?i)(https?:)(//)|(www)(\.)|(@)(?=\w)")


def escaped(text: str, limit: int = 300) -> str:
    """Text from a stranger as Markdown that shows just that text.

    >>> escaped("<b>|[x](y)")
    '\\\\<b\\\\>\\\\|\\\\[x\\\\]\\\\(y\\\\)'
    """
    safe = _SPECIAL.sub(r"\\\1", printable(text, limit))
    # A zero-width joiner would be invisible; an entity shows the same character and links nothing.
    return _LINKED.sub(
        lambda m: (m[1] or m[3] or "") + {"//": "&#47;&#47;", ".": "&#46;"}.get(m[2] or m[4], "&#64;"), safe
    )
