"""Text in files that a user names, which may be pipes, or devices without an end."""

from __future__ import annotations

import os

from warp_artic.errors import SettingsError

LARGEST = 1 << 28
"""Bytes that are read."""
CHUNK = 1 << 20
"""Bytes that are read at once: as many are allotted for a small file too."""


def read_text(path: str | os.PathLike) -> str:
    """The text of a file, without the mark that programs of Windows begin it with.

    Raises:
        SettingsError: It is longer than LARGEST.
    """
    content = bytearray()
    with open(path, "rb") as file:
        while len(content) <= LARGEST and (chunk := file.read(CHUNK)):
            content += chunk
    if len(content) > LARGEST:
        raise SettingsError(f"{path}: is longer than {LARGEST:.3g} bytes; no more are read")
    return content.decode("utf-8-sig")
