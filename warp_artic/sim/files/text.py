"""Text in files that a user names, which may be pipes, or devices without an end."""

from __future__ import annotations

import os

from warp_artic.errors import SettingsError

LARGEST = 1 << 28
"""Bytes that are read."""


def read_text(path: str | os.PathLike) -> str:
    """The text of a file, without the mark that programs of Windows begin it with.

    Raises:
        SettingsError: It is longer than LARGEST.
    """
    with open(path, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise SettingsError(f"{path}: is longer than {LARGEST:.3g} bytes; no more are read")
    return content.decode("utf-8-sig")
