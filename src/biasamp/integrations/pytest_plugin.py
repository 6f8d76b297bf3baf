"""Fixtures for teams that gate models in their tests.

Installed as a pytest plugin; nothing of it is imported before a test asks for a fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from biasamp.policy import Policy, Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the policy is: an option of the command line, or of the configuration file."""
    words = "the biasamp policy (TOML) that the fixture biasamp_check holds audits to"
    parser.getgroup("biasamp").addoption("--biasamp-policy", metavar="FILE", default=None, help=words)
    parser.addini("biasamp_policy", words, default="policy.toml")


@pytest.fixture(scope="session")
def biasamp_policy(pytestconfig: pytest.Config) -> Policy:
    """The policy named by ``--biasamp-policy``, else by ``biasamp_policy`` of the configuration, else policy.toml."""
    from biasamp.policy import Policy

    given = pytestconfig.getoption("--biasamp-policy")
    if given is not None:
        return Policy.load(pytestconfig.invocation_params.dir / given)
    return Policy.load(pytestconfig.rootpath / str(pytestconfig.getini("biasamp_policy")))


@pytest.fixture
def biasamp_check(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """Hold an audit, or data, to a policy: the test fails unless the verdict is a pass.

    Called as ``biasamp_check(audit_or_data, policy=None, baseline=None, **arguments)``; the policy is that of the
    fixture ``biasamp_policy`` unless a policy or its path is given, and ``arguments`` are those of
    :func:`biasamp.audit`. Not enough evidence is no pass.
    """

    def check(source: Any, policy: Any = None, *, baseline: Any = None, **arguments: Any) -> Verdict:
        __tracebackhide__ = True
        from biasamp import Audit
        from biasamp.policy import Policy
        from biasamp.policy.reading import DATA_KEYS

        if policy is None:
            policy = request.getfixturevalue("biasamp_policy")
        elif isinstance(policy, (str, Path)):
            policy = Policy.load(policy)
        if isinstance(source, Audit) and arguments:
            raise TypeError(f"an audit says by itself what it measured; leave out {', '.join(arguments)}")
        policy = policy.reading(**{name: value for name, value in arguments.items() if name in DATA_KEYS})
        audit = source if isinstance(source, Audit) else policy.audit(source, **arguments)
        verdict: Verdict = policy.check(audit, baseline)
        if not verdict.passed:
            pytest.fail(str(verdict), pytrace=False)
        return verdict

    return check
