"""The errors that warp_artic raises on purpose; each message says where, what was found, and what is allowed."""


class ArticError(Exception):
    """Base of every error raised on purpose."""


class StageError(ArticError):
    """A stage cannot be read, or what it authors cannot be simulated."""


class DescriptionError(ArticError):
    """A description breaks a rule that a mechanism must satisfy."""


class SettingsError(ArticError):
    """A setting, an option or an input array has a value that is not allowed."""


class SolveError(ArticError):
    """A simulation cannot go on, or a result cannot be given."""


class HostError(ArticError):
    """A stepping backend cannot be found or used, or a host asks for what it does not do."""
