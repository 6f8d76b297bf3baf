"""Which identities are compared: every two, each against a reference, or each against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from biasamp.data.plain_arguments import one_of, shown

# The gap of two identities, or of one against the mean of all others.
Contrast = tuple[int, int | None]

CONTRASTS = ("auto", "pairs", "reference", "rest")
# Up to so many identities every two are compared unless something else is asked for; pairs grow with their square.
FEW = 4


def chosen_contrasts(
    identities: Sequence[str], contrasts: str = "auto", reference: str | None = None
) -> tuple[Contrast, ...]:
    """The gaps to look at: pairs of identities, the earlier one first, then each identity against the rest.

    ``"pairs"``: every two, and each against the rest; ``"reference"``: each against one of them (by default the first);
    ``"rest"``: each against the mean of the others; ``"auto"``: pairs of up to four identities, of more each against
    the reference and against the rest.

    >>> chosen_contrasts(["a", "b", "c"])
    ((0, 1), (0, 2), (1, 2), (0, None), (1, None), (2, None))
    >>> chosen_contrasts(["a", "b", "c"], "reference", "b")
    ((0, 1), (1, 2))
    """
    one_of(contrasts, "contrasts", CONTRASTS)
    if reference is not None and (not isinstance(reference, str) or reference not in identities):
        raise ValueError(f"reference is {shown(reference)}; the identities are {', '.join(map(repr, identities))}")
    if reference is not None and contrasts in ("pairs", "rest"):
        raise ValueError(f"reference has no meaning with contrasts={contrasts!r}: no gap is against one identity alone")
    many = len(identities)
    pairs: list[Contrast] = list(combinations(range(many), 2))
    rest: list[Contrast] = [(k, None) for k in range(many)] if many > 2 else []
    if contrasts == "rest" and rest:
        return tuple(rest)
    if contrasts == "reference" or (contrasts == "auto" and (many > FEW or reference is not None)):
        at = 0 if reference is None else identities.index(reference)
        pairs = [pair for pair in pairs if at in pair]
    return tuple(pairs) if contrasts == "reference" else (*pairs, *rest)
