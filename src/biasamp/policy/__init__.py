"""What passes and what fails: limits on an audit, for a gate in CI."""

from .errors import PolicyError
from .limits import Limit
from .policy import Policy
from .verdict import Check, Verdict

__all__ = ["Check", "Limit", "Policy", "PolicyError", "Verdict"]
