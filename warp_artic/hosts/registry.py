"""Finds stepping backends that are installed, by name, without importing them.

A package registers one as an entry point of the group `warp_artic.backends`,

    [project.entry-points."warp_artic.backends"]
    my_simulator = "my_package.backend:MyBackend"

or, for hosts that only know PXR_PLUGINPATH_NAME, in the plugInfo.json of a plugin of USD, as "Info":

    {"StageBackends": {"my_simulator": {"factory": "my_package.backend:MyBackend", "api": 1}}}

The same one may be found both ways. The factory is called without arguments and gives a `StageBackend`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points

from warp_artic.errors import HostError
from warp_artic.hosts.backend import API_VERSION, StageBackend

GROUP = "warp_artic.backends"
"""The group of entry points."""
KEY = "StageBackends"
"""The key in the metadata of a plugin of USD."""


@dataclass(frozen=True)
class Registration:
    """A backend as it is registered; nothing of it is imported."""

    name: str
    factory: str
    """`module:callable`."""
    places: tuple[str, ...]
    """Where it is registered: packages and plugins."""
    api_version: int | None = None
    """The version of the protocol, where the registration says it."""


def find_backends() -> tuple[Registration, ...]:
    """All that are registered, by name.

    Raises:
        HostError: Two different ones have the same name, or a registration cannot be understood.
    """
    found: dict[str, Registration] = {}
    for one in (*_entry_points(), *_plugins()):
        other = found.setdefault(one.name, one)
        if other.factory != one.factory:
            raise HostError(
                f"backend {one.name!r} is registered twice: as {other.factory} by {other.places[0]}, and as "
                f"{one.factory} by {one.places[0]}; uninstall one of them"
            )
        if other is not one:
            api_version = one.api_version if other.api_version is None else other.api_version
            found[one.name] = Registration(one.name, one.factory, other.places + one.places, api_version)
    return tuple(found[name] for name in sorted(found))


def load_backend(name: str) -> StageBackend:
    """A new backend of a name.

    Raises:
        HostError: There is none of this name, it cannot be imported or made, or it is of another version of the
            protocol.
    """
    backends = {one.name: one for one in find_backends()}
    if name not in backends:
        raise HostError(f"there is no backend {name!r}; registered are {', '.join(backends) or 'none'}")
    registration = backends[name]
    _check_version(registration, registration.api_version)
    module, _, attribute = registration.factory.partition(":")
    try:
        made = getattr(import_module(module), attribute)()
    except Exception as error:  # whatever the code of others does
        text = " ".join(str(error).split()) or type(error).__name__
        raise HostError(f"{_named(registration)} cannot be loaded from {registration.factory}: {text}") from error
    if not isinstance(made, StageBackend):
        lacking = [part for part in _PARTS if not hasattr(made, part)]
        raise HostError(f"{_named(registration)} is no StageBackend: {registration.factory} lacks {', '.join(lacking)}")
    _check_version(registration, made.api_version)
    return made


_PARTS = (*StageBackend.__annotations__, *(name for name in vars(StageBackend) if not name.startswith("_")))


def _named(registration: Registration) -> str:
    return f"backend {registration.name!r} ({', '.join(registration.places)})"


def _check_version(registration: Registration, version: int | None) -> None:
    if version not in (None, API_VERSION):
        raise HostError(
            f"{_named(registration)} is for version {version!r} of the protocol; this is version {API_VERSION}"
        )


def _entry_points() -> Iterable[Registration]:
    for point in entry_points(group=GROUP):
        package = f"package {point.dist.name}" if point.dist else "a package"
        yield Registration(point.name, point.value, (package,))


def _plugins() -> Iterable[Registration]:
    try:
        from pxr import Plug
    except ImportError:  # a host without USD
        return
    for plugin in Plug.Registry().GetAllPlugins():
        for name, info in plugin.metadata.get(KEY, {}).items():
            place = f"plugin {plugin.name} at {plugin.path or plugin.resourcePath}"
            factory = info.get("factory") if isinstance(info, dict) else None
            if not isinstance(factory, str) or not all(factory.partition(":")):
                raise HostError(f"{place}: {KEY} {name!r} needs a factory 'module:callable', found {info!r}")
            yield Registration(name, factory, (place,), info.get("api"))
