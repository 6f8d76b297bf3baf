"""What passes and what fails: limits on an audit, for a gate in CI."""

from .limits import Limit, PolicyError
from .policy import Policy
from .verdict import Check, Verdict

__all__ = ["Check", "Limit", "Policy", "PolicyError", "Verdict"]
