"""The errors that warp_artic raises on purpose; each message says where, what was found, and what is allowed."""

from collections.abc import Iterable
from difflib import get_close_matches


class ArticError(Exception):
    """Base of every error raised on purpose."""


class StageError(ArticError):
    """A stage cannot be read, or what it authors cannot be simulated."""


class DescriptionError(ArticError):
    """A description breaks a rule that a mechanism must satisfy."""


class SettingsError(ArticError):
    """A setting, an option or an input array has a value that is not allowed."""


class UnknownNameError(SettingsError, AttributeError):
    """An object has no array of this name, or none that is written."""


class SolveError(ArticError):
    """A simulation cannot continue, or has no result."""


class HostError(ArticError):
    """A stepping backend cannot be found or used, or does not support a request of a host."""


def did_you_mean(name: object, allowed: Iterable[str]) -> str:
    """A suggestion of the nearest of some names, to append to a message; empty if none is near.

    Of paths the ends count most: an elbow is meant by another path to an elbow.
    """
    names = [str(one) for one in allowed]
    text = str(name)
    found = get_close_matches(text, names, n=1, cutoff=0.7)
    if not found:
        ends = {one.rpartition("/")[2]: one for one in reversed(names)}
        found = [ends[end] for end in get_close_matches(text.rpartition("/")[2], ends, n=1, cutoff=0.7)]
    return f"; did you mean {found[0]}?" if found else ""
