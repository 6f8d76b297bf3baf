"""What people act on, on populations whose truth is known: intervals, sentences, comparisons and gates.

``python -m benchmarks decisions --samples 300`` prints how often every interval of an audit's document holds the truth,
how often each kind of sentence is false, how often the difference of two models is covered, and how often ``check`` passes
a model at its limit; ``--only WORD`` takes the parts and cases with that word in their name. A cell that breaks its limit,
beyond what so few samples leave open, is marked. The table that was measured is ``docs/decisions.md``.
"""

from .tables import main

__all__ = ["main"]
