"""Our plugins of USD: where the files of schemas and validator are, and how USD learns of them."""

from __future__ import annotations

from pathlib import Path


def schema_root() -> Path:
    """The folder with the plugInfo.json of our schemas; for PXR_PLUGINPATH_NAME, which registers them by itself."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "usd_schemas"
    return installed if installed.is_dir() else package.parent / "usd_schemas"  # beside it in a checkout


def validator_root() -> Path:
    """The folder with the plugInfo.json of our validator; it needs this package where it is called."""
    return Path(__file__).resolve().parent


def register_plugins() -> None:
    """Register our schemas and our validator with USD, before it first loads schemas; USD may be missing."""
    try:
        from pxr import Plug
    except ImportError:  # the simulator itself does without
        return
    Plug.Registry().RegisterPlugins([str(schema_root()), str(validator_root())])
