"""The page as text: self-contained, the same every time, with a policy that allows its own script alone."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re

import pytest

from biasamp.report.page import page
from browser import HOSTILE


def test_document_comes_back_and_text_stays_text() -> None:
    document = {"kind": "report", "names": list(HOSTILE), "value": 0.1}
    written = page(HOSTILE[1], document, words=HOSTILE)
    held = re.search(r'id="document">\n(.*?)\n</script>', written, re.S)
    assert held is not None
    assert json.loads(gzip.decompress(base64.b64decode(held[1]))) == document
    # Besides its own two scripts nothing in the file opens or closes one.
    assert len(re.findall(r"<script", written)) == 2
    assert len(re.findall(r"</script", written)) == 2
    assert "<img" not in written
    assert "\u202e" not in written


def test_same_document_same_bytes() -> None:
    document = {"kind": "report", "value": [1, 2, 3]}
    assert page("x", document) == page("x", document)


def test_policy_names_the_script_and_style_by_their_digests() -> None:
    written = page("x", {"kind": "report"})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', written)
    assert policy is not None
    for tag in ("script", "style"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", written, re.S)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{tag}-src &#x27;sha256-{digest}&#x27;" in policy[1]
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r'(src|href)="(?!data:,)', written.split("<style>")[0])


def test_a_page_has_one_source() -> None:
    with pytest.raises(ValueError, match="not both"):
        page("x")
    with pytest.raises(ValueError, match="not both"):
        page("x", {}, data_from="data")
