from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from biasamp.resampling.significance import q_values


@pytest.mark.parametrize("method", ["bh", "by"])
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_agrees_with_scipy(method, p):
    assert q_values(p, method) == pytest.approx(false_discovery_control(p, method=method), rel=1e-12, abs=1e-300)


def test_tests_not_made_do_not_count():
    q = q_values(np.array([[0.01, np.nan], [0.03, 0.02]]))
    assert q == pytest.approx(np.array([[0.03, np.nan], [0.03, 0.03]]), nan_ok=True)
    assert np.isnan(q_values([np.nan])).all()


def test_bad_input():
    with pytest.raises(ValueError, match="0, 1"):
        q_values([0.5, 1.5])
    with pytest.raises(ValueError, match="'bonferroni'"):
        q_values([0.5], "bonferroni")
