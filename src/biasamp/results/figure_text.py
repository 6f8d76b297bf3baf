"""How a number and its interval are written: to four digits, everywhere alike."""

from __future__ import annotations


def figure(value: float | None, signed: bool = True, undefined: str = "—") -> str:
    """A number to four digits after the point, with a plus sign where the sign says something."""
    if value is None or value != value:
        return undefined
    return f"{float(value):{'+' if signed else ''}.4f}"


def interval(low: float | None, high: float | None, signed: bool = True) -> str:
    """An interval in brackets, or nothing where there is none."""
    return "" if low is None or high is None else f"[{figure(low, signed)}, {figure(high, signed)}]"


def figure_with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """A number with its interval, where it has one."""
    return f"{figure(value, undefined='undefined')} {interval(low, high)}".strip()
