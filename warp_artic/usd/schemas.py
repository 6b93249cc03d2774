"""Our USD schemas: where their files are, and how USD learns of them."""

from __future__ import annotations

from pathlib import Path


def schema_root() -> Path:
    """The folder with the plugInfo.json of our schemas; for PXR_PLUGINPATH_NAME, which registers them by itself."""
    return Path(__file__).resolve().parents[2] / "usd_schemas"


def register_schemas() -> None:
    """Tell USD of our schemas; without effect where it has looked at schemas before, or is not installed."""
    try:
        from pxr import Plug
    except ImportError:  # the simulator itself does without
        return
    Plug.Registry().RegisterPlugins(str(schema_root()))
