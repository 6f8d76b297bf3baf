from browser import context, watched

__all__ = ["context", "watched"]
