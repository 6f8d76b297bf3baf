"""What captions name, by lists of words."""

from __future__ import annotations

import pytest

from biasamp.text.word_lists import Objects, gender, neutral

NAMES = ["person", "cat", "dog", "hot_dog", "couch", "knife", "umbrella", "tie", "bench", "dining_table"]


class TestWords:
    @pytest.mark.parametrize(
        "caption, found",
        [
            ("A man to catch a dog.", ["dog"]),
            ("two hot dogs", ["hot_dog"]),
            ("a hot dog and a dog", ["dog", "hot_dog"]),
            ("knives on a table", ["dining_table", "knife"]),
            ("sitting on a sofa, with umbrellas", ["couch", "umbrella"]),
            ("an untied shoe", []),
            ("benches", ["bench"]),
        ],
    )
    def test_objects(self, caption: str, found: list[str]) -> None:
        assert Objects(NAMES).named(caption) == found

    @pytest.mark.parametrize(
        "caption, found",
        [
            ("A WOMAN with a dog", "woman"),
            ("two men and their bikes", "man"),
            ("a man holding a woman's hand", None),
            ("a group of people", None),
            ("a person near the manhole", None),
            ("the snowman and a lady", "woman"),
        ],
    )
    def test_gender(self, caption: str, found: str | None) -> None:
        assert gender(caption) == found

    def test_neutral_captions_name_no_gender_and_the_same_objects(self) -> None:
        caption = "A woman hands her umbrella to a man on a bench"
        assert gender(neutral(caption)) is None
        objects = Objects(NAMES[1:])
        assert objects.named(neutral(caption)) == objects.named(caption) == ["bench", "umbrella"]
