"""Audits with known figures."""

from __future__ import annotations

import pytest

import biasamp
from amplified import audited, columns


@pytest.fixture(scope="session")
def clean() -> biasamp.Audit:
    """A perfect model."""
    return audited(columns())


@pytest.fixture(scope="session")
def amplifying() -> biasamp.Audit:
    """Half of the women without the task get it: P(t|w) goes from .7 to .85, so A->T is .15 / 2 by hand."""
    return audited(columns(said=0.5))
