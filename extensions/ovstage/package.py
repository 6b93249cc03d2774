"""The package ovstage, or one line on how to get it."""

from warp_artic.errors import HostError

try:
    import ovstage as ovstage
except ModuleNotFoundError as error:
    raise HostError("ovstage is not installed; it comes with the extra: pip install 'warp-artic[ovstage]'") from error


def check_stage(stage: object) -> None:
    """Raise a HostError unless this is an open stage of ovstage."""
    if not isinstance(stage, ovstage.Stage):
        raise HostError(f"stage: is {type(stage).__module__}.{type(stage).__name__}, not an ovstage.Stage")
    try:
        stage.get_path_dictionary()
    except ovstage.OvstageError as error:
        raise HostError(f"stage: is an ovstage.Stage that cannot be used: {error}") from error
