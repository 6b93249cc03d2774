"""The base of what Kit starts."""


class IExt:
    """Has on_startup(ext_id) and on_shutdown()."""
