"""Sentences with a blank for a pronoun or an occupation, what a model puts there, and how that amplifies."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .masked_words import Blank, MaskedModel, shares
from .occupations import HE, SHE, THEY, Occupation, labour_table

Array = NDArray[np.float64]
PRONOUNS = (HE, SHE, THEY)
TWO = (HE, SHE)
VERBS = ("is", "was")
ADJECTIVES = ("new", "known", "single", "large", "small", "major", "French", "old", "short", "good")
TEMPLATES = tuple((verb, adjective) for verb in VERBS for adjective in ADJECTIVES)


def pronoun_blank(template: tuple[str, str], occupation: str) -> Blank:
    """The sentence of a template with an occupation, and a blank for the pronoun."""
    return Blank("", f" {_middle(template)} {occupation}.")


def occupation_blank(template: tuple[str, str], pronoun: str) -> Blank:
    """The sentence of a template with a pronoun, and a blank for the occupation."""
    return Blank(f"{pronoun.capitalize()} {_middle(template)} ", ".")


def occupation_blanks(pronoun: str) -> list[Blank]:
    """All templates with a pronoun, and a blank for the occupation."""
    return [occupation_blank(template, pronoun) for template in TEMPLATES]


def _middle(template: tuple[str, str]) -> str:
    verb, adjective = template
    return f"{verb} {'an' if adjective[0] in 'aeiou' else 'a'} {adjective}"


@dataclass(frozen=True, eq=False)
class FilledIn:
    """What a model puts in the blanks.

    Attributes
    ----------
    occupations : tuple of Occupation
    pronoun : ndarray of shape (templates, occupations, pronouns)
        Shares of the three pronouns, given the occupation.
    occupation : ndarray of shape (templates, pronouns, occupations)
        Shares of the occupations that are one token, given the pronoun; 0 for the others.
    occupation_chained : ndarray of the same shape
        Of all occupations the tokenizer knows, those of several tokens by the sum of their log-probabilities.
    tokens : ndarray of int, shape (occupations,)
        How many tokens each occupation has; 0 where the tokenizer does not know it.
    """

    occupations: tuple[Occupation, ...]
    pronoun: Array
    occupation: Array
    occupation_chained: Array
    tokens: NDArray[np.int64]

    @property
    def he(self) -> Array:
        """P(he | occupation) among he and she, the mean over templates: the vertical axis of Fig. 5."""
        two = self.pronoun[..., :2] / self.pronoun[..., :2].sum(axis=-1, keepdims=True)
        out: Array = two[..., 0].mean(axis=0)
        return out

    @property
    def one_token(self) -> NDArray[np.bool_]:
        """Which occupations are one token, and so compete for one mask."""
        return self.tokens == 1


def fill_in(model: MaskedModel, occupations: Sequence[Occupation]) -> FilledIn:
    """Ask a model for pronouns given occupations, and for occupations given pronouns, in all 20 templates.

    Parameters
    ----------
    model : MaskedModel
        For one of your own, :func:`~biasamp.experiments.masked_words.load_masked_model`.
    occupations : sequence of Occupation

    Notes
    -----
    Pronouns are asked for with the occupation in plain sight, however many tokens it has. Occupations are compared
    among those that are one token where they stand: the number of masks tells a model how long the word is, so
    that a word of two tokens competes with other words of two tokens alone.

    Examples
    --------
    >>> from biasamp.experiments.masked_words import load_masked_model
    >>> from biasamp.experiments.occupations import occupations
    >>> filled = fill_in(load_masked_model("bert-base-uncased"), occupations())  # doctest: +SKIP
    """
    names = [occupation.name for occupation in occupations]
    spelled = [pronoun.capitalize() for pronoun in PRONOUNS]
    asked = [pronoun_blank(template, name) for template in TEMPLATES for name in names]
    scores, tokens = model.scores(asked, spelled)
    if (tokens != 1).any():
        many = [p for p, count in zip(PRONOUNS, tokens.T, strict=True) if (count != 1).any()]
        raise ValueError(f"model: the tokenizer of {model.name!r} does not read {', '.join(many)} as one token")
    pronoun = shares(scores).reshape(len(TEMPLATES), len(names), len(PRONOUNS))
    asked = [occupation_blank(template, p) for template in TEMPLATES for p in PRONOUNS]
    scores, tokens = model.scores(asked, names)
    # A tokenizer that joins a word with what stands before it may read it in one way here and in another there.
    most = np.where((tokens == 0).any(axis=0), 0, tokens.max(axis=0))
    if (most == 1).sum() < 2:
        raise ValueError(f"model: the tokenizer of {model.name!r} has fewer than two of the occupations as one token")
    shape = (len(TEMPLATES), len(PRONOUNS), len(names))
    return FilledIn(
        tuple(occupations),
        pronoun,
        shares(np.where(most == 1, scores, np.nan)).reshape(shape),
        shares(np.where(most > 0, scores, np.nan)).reshape(shape),
        most,
    )


@dataclass(frozen=True)
class Source:
    """A source of base correlations: a table of occupations by pronouns, or None for equal shares."""

    name: str
    pronouns: tuple[str, ...]
    table: Mapping[str, Mapping[str, float]] | None = None


def sources(
    occupations: Sequence[Occupation], counted: NDArray[np.int64] | None, counted_name: str
) -> tuple[Source, ...]:
    """The four sources of Table 2; the third takes counts of (he, she) from a text, where there are any."""
    listed = [Source("Uniform (2)", TWO), Source("Uniform (3)", PRONOUNS)]
    if counted is not None:
        rows = zip(occupations, counted.tolist(), strict=True)
        table = {occupation.name: dict(zip(TWO, pair, strict=True)) for occupation, pair in rows if sum(pair)}
        listed.append(Source(counted_name, TWO, table))
    return (*listed, Source("2016 U.S. Labor Force (WinoBias) (2)", TWO, labour_table(tuple(occupations))))


def amplification(
    filled: FilledIn,
    source: Source,
    direction: str,
    *,
    template: int | None = None,
    chained: bool = False,
    alike: bool = False,
) -> Any:
    """BiasAmp of what a model filled in, against a source of base correlations.

    Parameters
    ----------
    filled : FilledIn
    source : Source
    direction : {"T→A", "A→T"}
        Whether the occupation is given and the pronoun filled in, or the other way round.
    template : int, optional
        One template alone.
    chained : bool
        For A→T, let occupations of several tokens compete by their sums of log-probabilities.
    alike : bool
        For T→A, take every occupation of the source for equally large.

    Returns
    -------
    Amplification
    """
    import biasamp

    names = [occupation.name for occupation in filled.occupations]
    known = np.array([source.table is None or name in source.table for name in names])
    to_attribute = direction == "T→A"
    if not to_attribute:
        known &= filled.tokens > 0 if chained else filled.one_token
    rows = np.arange(len(TEMPLATES)) if template is None else np.array([template])
    kept = np.flatnonzero(known)
    columns = [PRONOUNS.index(pronoun) for pronoun in source.pronouns]
    if to_attribute:
        predicted = filled.pronoun[rows][:, kept][..., columns]
        givens, outcomes = [names[i] for i in kept], list(source.pronouns)
    else:
        drawn = filled.occupation_chained if chained else filled.occupation
        predicted = drawn[rows][:, columns][..., kept]
        givens, outcomes = list(source.pronouns), [names[i] for i in kept]
    predicted = predicted / predicted.sum(axis=-1, keepdims=True)
    options = _base(source, [filled.occupations[i] for i in kept], to_attribute, alike)
    with warnings.catch_warnings():
        # Twenty sentences a word: how far to trust them is said by the interval over templates.
        warnings.simplefilter("ignore", UserWarning)
        return biasamp.directional(
            np.tile(givens, len(rows)),
            None,
            biasamp.categorical(predicted.reshape(-1, len(outcomes)), categories=outcomes),
            **options,
        )


def _base(source: Source, kept: Sequence[Occupation], to_attribute: bool, alike: bool) -> dict[str, Any]:
    """The arguments ``base`` and ``direction`` for a source."""

    def laid_out(table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        if to_attribute:
            return {o.name: {p: table[o.name][p] for p in source.pronouns} for o in kept}
        return {p: {o.name: table[o.name][p] for o in kept} for p in source.pronouns}

    if source.table is None:
        return {"base": "uniform", "direction": laid_out({o.name: o.direction for o in kept})}
    joint = laid_out(source.table)
    if alike and to_attribute:
        rates = {name: {p: part / sum(row.values()) for p, part in row.items()} for name, row in joint.items()}
        return {"base": {"conditional": rates, "given": dict.fromkeys(rates, 1.0), "source": source.name}}
    return {"base": {"joint": joint, "source": source.name}}
