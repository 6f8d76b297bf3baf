"""What is wrong with a policy, and where."""

from __future__ import annotations


class PolicyError(ValueError):
    """A policy that cannot be used as it stands.

    ``key`` names the entry, ``line`` its line where the policy is a file, ``source`` the file.
    """

    def __init__(self, key: str, problem: str, *, line: int | None = None, source: str | None = None) -> None:
        self.key, self.problem, self.line, self.source = key, problem, line, source
        place = ", ".join(part for part in (source, None if line is None else f"line {line}") if part)
        super().__init__(f"{place + ': ' if place else ''}{key}: {problem}")
