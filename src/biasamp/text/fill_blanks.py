"""``fill_blanks``: what a language model puts in a blank, against base rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biasamp.data.label import printable
from biasamp.data.plain_arguments import number, one_of, shown
from biasamp.results.table import Table
from biasamp.results.table import text as text_array

from .blanks import HE, SHE, TWO, FilledIn, Occupation, Source, amplification, fill_in
from .language_models import CausalModel, MaskedModel, load_causal_model, load_masked_model

KINDS = ("masked", "causal")


def fill_blanks(
    model: Any,
    women: Mapping[str, float],
    *,
    employed: Mapping[str, float] | None = None,
    tokenizer: Any = None,
    kind: str = "masked",
    source: str = "given rates",
) -> FilledBlanks:
    """Ask a language model for pronouns given occupations and for occupations given pronouns, and hold it against base rates.

    Twenty sentences such as 'He is a new [nurse].' are asked both ways (Wang and Russakovsky 2021, Sec. 5.2).

    Parameters
    ----------
    model : str, model of transformers, or object with ``name`` and ``scores(blanks, words)``
        A name on the Hugging Face Hub or a folder made by ``save_pretrained`` (extra ``text``); a model together with its ``tokenizer``; or
        anything that gives log-probabilities of words in blanks.
    women : mapping of an occupation to a share
        The share of women in each: the base rates.
    employed : mapping of an occupation to a number, optional
        How many people work in each; by default all are alike.
    tokenizer : optional
        Of a model of transformers.
    kind : {"masked", "causal"}
        A masked model fills the blank in; of a causal one the probabilities of whole sentences are compared.
    source : str
        Where the base rates come from, for reports.

    Returns
    -------
    FilledBlanks
        ``.table`` has the share of 'he' of the model and of the base for each occupation; ``.to_attribute`` (T→A) and ``.to_task`` (A→T) are the
        directional amplification against the base rates.

    References
    ----------
    A. Wang, O. Russakovsky, "Directional Bias Amplification", ICML 2021.

    Examples
    --------
    ``fill_blanks("bert-base-uncased", women)`` asks a model of Hugging Face. Here a small class takes its place:

    >>> import numpy as np
    >>> import biasamp
    >>> class Stub:
    ...     name = "says he three times as often as she"
    ...
    ...     def scores(self, blanks, words):
    ...         one = np.log([0.6 if word.lower() == "he" else 0.2 for word in words])
    ...         return np.tile(one, (len(blanks), 1)), np.ones((len(blanks), len(words)), dtype=np.int64)
    ...
    >>> result = biasamp.fill_blanks(Stub(), {"nurse": 0.9, "driver": 0.1})
    >>> result.table["he"].tolist(), round(result.to_attribute.value, 3)
    ([0.75, 0.75], -0.4)
    """
    one_of(kind, "kind", KINDS)
    if not isinstance(women, Mapping) or len(women) < 2:
        raise ValueError(f"women is {shown(women)}; a mapping of two occupations or more to shares of women is needed")
    shares = {str(name): number(value, f"women[{name!r}]", least=0.0, most=1.0) for name, value in women.items()}
    sizes = dict.fromkeys(shares, 1.0)
    if employed is not None:
        if not isinstance(employed, Mapping):
            raise TypeError(f"employed is {shown(employed)}; a mapping of occupations to numbers is needed")
        lacking = [name for name in shares if name not in employed]
        if lacking:
            raise ValueError(f"employed has no number for {lacking[0]!r}")
        sizes = {name: number(employed[name], f"employed[{name!r}]", least=0.0) for name in shares}
    asked = _asked(model, tokenizer, kind)
    occupations = [
        Occupation(name, share, sizes[name], "women" if share > 0.5 else "men") for name, share in shares.items()
    ]
    return FilledBlanks(asked.name, fill_in(asked, occupations), source)


def _asked(model: Any, tokenizer: Any, kind: str) -> Any:
    if isinstance(model, str):
        return load_masked_model(model) if kind == "masked" else load_causal_model(model)
    if hasattr(model, "scores") and hasattr(model, "name"):
        return model
    if tokenizer is None:
        raise TypeError(f"model is {shown(model)}; give its tokenizer too, or the name of a model")
    name = str(getattr(model, "name_or_path", "") or type(model).__name__)
    return (MaskedModel if kind == "masked" else CausalModel)(tokenizer, model, name)


@dataclass(frozen=True, eq=False)
class FilledBlanks:
    """What a language model puts in blanks; see :func:`biasamp.fill_blanks`.

    Attributes
    ----------
    name, source : str
        What the model and the base rates are called.

    Examples
    --------
    >>> import numpy as np
    >>> import biasamp
    >>> class Stub:
    ...     name = "says he three times as often as she"
    ...
    ...     def scores(self, blanks, words):
    ...         one = np.log([0.6 if word.lower() == "he" else 0.2 for word in words])
    ...         return np.tile(one, (len(blanks), 1)), np.ones((len(blanks), len(words)), dtype=np.int64)
    ...
    >>> result = biasamp.fill_blanks(Stub(), {"nurse": 0.9, "driver": 0.1})
    >>> result.table["occupation"].tolist(), result.table["he"].tolist()
    (['nurse', 'driver'], [0.75, 0.75])
    """

    name: str
    filled: FilledIn
    source: str

    def __repr__(self) -> str:
        return f"FilledBlanks({printable(self.name)}: {len(self.filled.occupations)} occupations, against {printable(self.source)})"

    @cached_property
    def _base(self) -> Source:
        table = {o.name: {HE: (1 - o.women) * o.employed, SHE: o.women * o.employed} for o in self.filled.occupations}
        return Source(self.source, TWO, table)

    @cached_property
    def to_attribute(self) -> Any:
        """BiasAmp T→A: pronouns filled in, given occupations."""
        return amplification(self.filled, self._base, "T→A")

    @cached_property
    def to_task(self) -> Any:
        """BiasAmp A→T: occupations filled in, given pronouns; those that are one token, where the model fills masks."""
        return amplification(self.filled, self._base, "A→T")

    @cached_property
    def table(self) -> Table:
        """One row per occupation: shares of 'he' among he and she, of the model and of the base."""
        held = self.filled.occupations
        he, base = self.filled.he, np.array([1 - o.women for o in held])
        return Table(
            {
                "occupation": text_array([o.name for o in held]),
                "he": he,
                "base": base,
                "difference": he - base,
                "tokens": self.filled.tokens,
            }
        )

    @property
    def findings(self) -> list[str]:
        """What was found, in words."""
        out = []
        for result, words in (
            (self.to_attribute, "pronouns given occupations (T→A)"),
            (self.to_task, "occupations given pronouns (A→T)"),
        ):
            verb = "amplifies" if result.value > 0 else "weakens" if result.value < 0 else "keeps"
            out.append(
                f"{printable(self.name)} {verb} the associations of {printable(self.source)} in {words}: {result.value:+.4f}."
            )
        far = int(np.abs(self.table["difference"]).argmax())
        row = list(self.table.rows())[far]
        out.append(
            f"It is furthest from the base for {printable(row['occupation'])}: 'he' {row['he']:.2f} against {row['base']:.2f}."
        )
        out.append("The twenty sentences are few: an interval over them is not given here.")
        return out
