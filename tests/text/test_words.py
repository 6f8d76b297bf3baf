"""What a word is."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasamp.text.words import split_tokens, token_words, words_of


class TestWordsOf:
    @pytest.mark.parametrize(
        "text, words",
        [
            ("A man's T-shirt!", ["a", "man", "t-shirt"]),
            ("The women’s bathroom", ["the", "women", "bathroom"]),
            ("don't; o'clock; she'll", ["don't", "o'clock", "she"]),
            ("l'homme et l’été", ["homme", "et", "été"]),
            ("dell'uomo", ["uomo"]),
            ("one--two – three—four", ["one", "two", "three", "four"]),
            ("hot_dog and/or cat,dog", ["hot", "dog", "and", "or", "cat", "dog"]),
            ("Straße STRASSE", ["strasse", "strasse"]),
            ("cafe\u0301 café", ["café", "café"]),
            ("co\u00adoperate", ["cooperate"]),
            ("女人 👩🏽", ["女", "人", "👩"]),
            ("\ta\u00a0b\u3000c\n", ["a", "b", "c"]),
            ("", []),
            ("...", []),
        ],
    )
    def test_cases(self, text: str, words: list[str]) -> None:
        assert words_of(text) == words

    @given(st.text(alphabet=st.characters(codec="ascii"), max_size=60))
    def test_ascii_is_what_a_regular_expression_finds(self, text: str) -> None:
        plain = text.lower().replace("--", "  ")
        found = [word.strip("-'") for word in re.findall(r"[a-z0-9'-]+", plain)]
        expected = []
        for word in found:
            # Apostrophes are left to the cases above.
            if "'" in word:
                return
            expected += [word] if word else []
        assert words_of(text) == expected

    @settings(max_examples=40)
    @given(st.lists(st.one_of(st.none(), st.text(max_size=30)), min_size=1, max_size=8))
    def test_any_text_splits_into_tokens_whose_words_are_its_own(self, texts: list[str | None]) -> None:
        clean = [None if text is None else text.encode("utf-8", "replace").decode() for text in texts]
        tokens = split_tokens(pa.array(clean, pa.string()))
        words = token_words(tokens.vocabulary)
        for place, text in enumerate(clean):
            own = tokens.codes[tokens.offsets[place] : tokens.offsets[place + 1]]
            assert [word for code in own for word in words[code]] == words_of(text or "")
