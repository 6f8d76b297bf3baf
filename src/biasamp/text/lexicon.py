"""What is looked for in texts: words and phrases of identities and of labels, and where they stand.

An entry of several words is found with blanks or hyphens between them. A word inside a longer entry of the same kind does not
count: 'hot dog' is no dog. Identities and labels are looked for apart: 'old woman' as a label leaves the woman an identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biasamp.data.arrow_numbers import arrow_text
from biasamp.data.label import printable
from biasamp.data.plain_arguments import listed, shown

from .gender_words import gender_words
from .plurals import plural, singular
from .words import Tokens, token_words, words_of

Index = NDArray[np.int64]

IDENTITY, LABEL = 0, 1  # the two kinds of entries
WORDS = "words"
# An entry of more words is a sentence, which texts hardly repeat; each joint of words is spelled in two ways.
MOST_WORDS = 8
# Words and tokens that are remembered; beyond, they are forgotten and looked up again.
MOST_KNOWN = 1 << 20


class Entry(NamedTuple):
    """One spelling of what is looked for: its words, its kind, and the label that it gives."""

    words: tuple[str, ...]
    kind: int
    label: str


@dataclass(frozen=True)
class Lexicon:
    """Lists of words, checked: ``identities`` by name, ``labels`` by name, or every word where it is None."""

    identities: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, tuple[str, ...]] | None
    plurals: bool = True

    def entries(self) -> list[Entry]:
        """All spellings. An identity's words are labels of their own, so that each is counted."""
        found = [
            entry
            for words in self.identities.values()
            for word in words
            for entry in self._spelled(word, IDENTITY, word)
        ]
        for name, words in (self.labels or {}).items():
            found += [entry for word in words for entry in self._spelled(word, LABEL, name)]
        return found

    def _spelled(self, word: str, kind: int, label: str) -> Iterable[Entry]:
        parts = entry_words(word)
        last = [parts]
        if self.plurals and parts[-1].isascii() and parts[-1].isalpha():
            last.append((*parts[:-1], plural(parts[-1])))
        for words in last:
            for joints in product(" -", repeat=len(words) - 1):
                spelled = words[0] + "".join(joint + part for joint, part in zip(joints, words[1:], strict=True))
                yield Entry(tuple(spelled.split(" ")), kind, label)


def entry_words(entry: str) -> tuple[str, ...]:
    """The words of an entry, which blanks, hyphens and underscores part.

    >>> entry_words("T-shirt"), entry_words("hot_dog")
    (('t', 'shirt'), ('hot', 'dog'))
    """
    return tuple(part for word in words_of(entry) for part in word.split("-") if part)


def read_lexicon(identities: Any, labels: Any, plurals: bool) -> Lexicon:
    """The arguments ``identities`` and ``labels`` of :func:`biasamp.read_text` as lists of words."""
    if isinstance(identities, str):
        held: Mapping[str, Any] = gender_words(identities).words
    elif identities is None:
        held = {}
    elif isinstance(identities, Mapping):
        held = {str(name): words for name, words in identities.items()}
    else:
        raise TypeError(
            f"identities is {shown(identities)}; a mapping of names to lists of words is needed, such as "
            "{'woman': ['woman', 'lady'], 'man': ['man', 'gentleman']}, or the name of a list: 'lic', 'helm', 'weat', 'captions'"
        )
    people = {name: _checked(words, f"identities[{name!r}]") for name, words in held.items()}
    owners: dict[tuple[str, ...], str] = {}
    for name, words in people.items():
        for word in words:
            other = owners.setdefault(entry_words(word), name)
            if other != name:
                raise ValueError(
                    f"identities: the word {printable(word)!r} is of {other!r} and of {name!r}; keep it in one"
                )
    things: dict[str, tuple[str, ...]] | None = {}
    if isinstance(labels, str):
        if labels != WORDS:
            raise ValueError(
                f"labels is {shown(labels)}; a list, a mapping of names to words, or 'words' for all words"
            )
        things = None
    elif isinstance(labels, Mapping):
        things = {str(name): _checked(words, f"labels[{name!r}]") for name, words in labels.items()}
    elif labels is not None:
        things = {word: (word,) for word in _checked(labels, "labels")}
    if not people and things == {}:
        raise ValueError("identities and labels are both missing: say what to look for in the texts")
    for words in people.values():
        for word in words:
            if word in (things or {}) and [entry_words(one) for one in (things or {})[word]] != [entry_words(word)]:
                raise ValueError(
                    f"{printable(word)!r} is a word of an identity and the name of a label with other words; call the label "
                    "something else"
                )
    return Lexicon(people, things, plurals)


def _checked(words: Any, name: str) -> tuple[str, ...]:
    held = [words] if isinstance(words, str) else listed(words, name, "words")
    if not held:
        raise ValueError(f"{name} is empty: name at least one word")
    for word in held:
        if not isinstance(word, str):
            raise TypeError(f"{name} holds {shown(word)}; words are text")
        parts = entry_words(word)
        if not parts:
            raise ValueError(f"{name} holds {printable(word)!r}, which has no letter or digit: no word could match it")
        if len(parts) > MOST_WORDS:
            raise ValueError(
                f"{name} holds {printable(word)!r}, {len(parts)} words; phrases of up to {MOST_WORDS} are found"
            )
    return tuple(dict.fromkeys(str(word) for word in held))


class Found(NamedTuple):
    """Labels of texts: ``codes`` into a finder's labels, those of text i from ``offsets[i]`` on; some may repeat."""

    offsets: Index
    codes: NDArray[np.int32]


class Finder:
    """Finds the entries of a lexicon in the tokens of texts; remembers the words that it has met."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.labels: list[str] = []
        self._lexicon = lexicon
        self._places: dict[str, int] = {}
        self._single: dict[str, list[tuple[int, int]]] = {}
        # A word of a phrase has a number from 1 on; a state of the automaton is a beginning of phrases, 0 the empty one.
        self._number: dict[str, int] = {}
        self._steps: dict[tuple[int, int], int] = {}
        self._ends: dict[int, list[tuple[int, int]]] = {}
        self._names: Any = None
        for entry in lexicon.entries():
            self._add(entry)
        self._width = len(self._number) + 1
        steps = sorted((state * self._width + word, target) for (state, word), target in self._steps.items())
        self._keys: Index = np.array([key for key, _ in steps], dtype=np.int64)
        self._targets: Index = np.array([target for _, target in steps], dtype=np.int64)
        self._final: NDArray[np.bool_] = np.zeros(len(steps) + 1, dtype=bool)
        self._final[list(self._ends)] = True
        self._forget()

    def _forget(self) -> None:
        """Begin with no words but the one of an empty token."""
        self._words: dict[str, int] = {"": 0}
        self._tokens: dict[str, tuple[int, ...]] = {"": (0,)}
        self._goals: list[tuple[tuple[int, int], ...]] = [()]
        self._numbers: list[int] = [-1]

    @property
    def names(self) -> Any:
        """The labels as an Arrow array."""
        if self._names is None or len(self._names) != len(self.labels):
            self._names = arrow_text(self.labels)
        return self._names

    def _code(self, label: str) -> int:
        if label not in self._places:
            self._places[label] = len(self.labels)
            self.labels.append(label)
        return self._places[label]

    def _add(self, entry: Entry) -> None:
        goal = (entry.kind, self._code(entry.label))
        if len(entry.words) == 1:
            held = self._single.setdefault(entry.words[0], [])
        else:
            state = 0
            for word in entry.words:
                number = self._number.setdefault(word, len(self._number) + 1)
                state = self._steps.setdefault((state, number), len(self._steps) + 1)
            held = self._ends.setdefault(state, [])
        # The first word of an identity that is spelled so keeps it: its plural may be an entry too.
        if goal not in held and not (entry.kind == IDENTITY and any(kind == IDENTITY for kind, _ in held)):
            held.append(goal)

    def _word(self, word: str) -> int:
        """The number of a word, which is looked up in the lexicon once."""
        code = self._words.get(word)
        if code is None:
            code = self._words[word] = len(self._goals)
            goals = tuple(self._single.get(word, ()))
            if self._lexicon.labels is None and not any(kind == IDENTITY for kind, _ in goals):
                goals = (*goals, (LABEL, self._code(singular(word) if self._lexicon.plurals else word)))
            self._goals.append(goals)
            self._numbers.append(self._number.get(word, 0))
        return code

    def _words_of(self, tokens: Tokens) -> tuple[Index, NDArray[np.int64]]:
        """Where the words of each text begin, and the numbers of all words one after another."""
        if len(self._tokens) > MOST_KNOWN or len(self._words) > MOST_KNOWN:
            self._forget()
        vocabulary = tokens.vocabulary.to_pylist()
        new = [token for token in vocabulary if token not in self._tokens]
        for token, words in zip(new, token_words(arrow_text(new)), strict=True):
            self._tokens[token] = tuple(map(self._word, words)) or (0,)
        of_token = [self._tokens[token] for token in vocabulary]
        sizes = np.array([len(words) for words in of_token], dtype=np.int64)
        flat = np.array([word for words in of_token for word in words], dtype=np.int64)
        if not len(sizes) or sizes.max() == 1:
            return tokens.offsets, flat[tokens.codes] if len(flat) else flat
        many = sizes[tokens.codes]
        ends = np.cumsum(many)
        first = (np.cumsum(sizes) - sizes)[tokens.codes] - (ends - many)
        return np.concatenate([[0], ends])[tokens.offsets], flat[np.repeat(first, many) + np.arange(int(ends[-1]))]

    def find(self, tokens: Tokens) -> Found:
        """The labels of texts."""
        offsets, words = self._words_of(tokens)
        sizes = np.array([len(goals) for goals in self._goals], dtype=np.int64)
        if not self._keys.size and sizes.max() <= 1:
            code = np.array([goals[0][1] if goals else -1 for goals in self._goals], dtype=np.int32)[words]
            there = code >= 0
            if there.all():
                return Found(offsets, code)
            return Found(np.concatenate([[0], np.cumsum(there)])[offsets], code[there])
        place, kind, label = _all_goals(words, self._goals, sizes)
        if self._keys.size:
            start, end, kinds, labels = self._phrases(offsets, words)
            inside = np.zeros(len(place), dtype=bool)
            for one in (IDENTITY, LABEL):
                covered = np.zeros(len(words), dtype=bool)
                first, stop = start[kinds == one], end[kinds == one]
                while len(first):
                    covered[first] = True
                    first, stop = first[first + 1 < stop] + 1, stop[first + 1 < stop]
                inside |= covered[place] & (kind == one)
            if inside.any():
                place, label = place[~inside], label[~inside]
            at = np.searchsorted(place, start)
            place, label = np.insert(place, at, start), np.insert(label, at, labels)
        return Found(np.searchsorted(place, offsets), label.astype(np.int32))

    def _phrases(self, offsets: Index, words: Index) -> tuple[Index, Index, Index, Index]:
        """Where phrases begin and end, in the order of their beginnings, their kinds and labels."""
        numbers = np.array(self._numbers, dtype=np.int64)
        number = numbers[words]
        # Marks between words leave no trace but empty words: a phrase is found over them.
        there: Index = np.flatnonzero(number >= 0) if (number < 0).any() else np.arange(len(number))
        if len(there) < len(number):
            number, offsets = number[there], np.searchsorted(there, offsets)
        # A phrase ends where a text does; beyond the last word nothing goes on.
        apart = np.zeros(len(number) + 1, dtype=bool)
        apart[offsets] = apart[-1] = True
        number = np.append(number, 0)
        after_root = np.zeros(self._width, dtype=np.int64)
        roots = self._keys < self._width
        after_root[self._keys[roots]] = self._targets[roots]
        begin = np.flatnonzero((after_root[numbers] > 0)[words[there]])
        begin = begin[(number[begin + 1] > 0) & ~apart[begin + 1]]
        at, state = begin + 1, after_root[number[begin]]
        found: list[tuple[Index, Index, Index]] = []
        while len(begin):
            key = state * self._width + number[at]
            spot = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            goes_on = self._keys[spot] == key
            begin, at, state = begin[goes_on], at[goes_on] + 1, self._targets[spot[goes_on]]
            ended = self._final[state]
            found.append((begin[ended], at[ended], state[ended]))
            inside = ~apart[at]
            begin, at, state = begin[inside], at[inside], state[inside]
        starts, stops, states = (
            (np.concatenate(column) for column in zip(*found, strict=True)) if found else (begin,) * 3
        )
        goals = [self._ends.get(one, []) for one in range(len(self._final))]
        sizes = np.array([len(held) for held in goals], dtype=np.int64)
        which, kinds, codes = _all_goals(states, goals, sizes)
        starts, stops = there[starts[which]], there[stops[which] - 1] + 1
        order = np.lexsort((-stops, starts, kinds))
        starts, stops, kinds, codes = starts[order], stops[order], kinds[order], codes[order]
        kept = np.flatnonzero(_outermost(starts, stops, kinds))
        kept = kept[np.argsort(starts[kept], kind="stable")]
        return starts[kept], stops[kept], kinds[kept], codes[kept]


def _all_goals(words: Index, goals: Sequence[Sequence[tuple[int, int]]], sizes: Index) -> tuple[Index, Index, Index]:
    """Place, kind and label of every goal of every word."""
    flat = np.array([goal for held in goals for goal in held], dtype=np.int64).reshape(-1, 2)
    first = np.cumsum(sizes) - sizes
    hit = np.flatnonzero((sizes > 0)[words])
    many = sizes[words[hit]]
    if len(many) and many.max() == 1:
        which = first[words[hit]]
        return hit, flat[which, 0], flat[which, 1]
    inside = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    which = np.repeat(first[words[hit]], many) + inside
    return np.repeat(hit, many), flat[which, 0], flat[which, 1]


def _outermost(place: Index, end: Index, kind: Index) -> NDArray[np.bool_]:
    """Which spans lie in no longer one of their kind; they come by kind, then by place, the longest first."""
    if not len(place):
        return np.zeros(0, dtype=bool)
    # Kinds apart, far beyond all places; equal spans (one word of two labels) both stay.
    far = int(end.max()) + 1
    low, high = place + kind * far, end + kind * far
    reach = np.concatenate([[-1], np.maximum.accumulate(high)[:-1]])
    same = np.concatenate([[False], (low[1:] == low[:-1]) & (high[1:] == high[:-1])])
    leader = np.maximum.accumulate(np.where(same, 0, np.arange(len(place))))
    return (reach < high)[leader]


def lists_of(found: Found, names: Any) -> Any:
    """Labels of texts as an Arrow array of lists of coded text."""
    coded = pa.DictionaryArray.from_arrays(pa.array(found.codes, pa.int32()), names)
    return pa.ListArray.from_arrays(pa.array(found.offsets, pa.int32()), coded)
