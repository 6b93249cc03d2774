"""Steps a USD stage, and shows it on a stage of ovstage. Needs the extra `ovstage`."""

from warp_artic.extensions.ovstage.host import Host as Host
from warp_artic.extensions.ovstage.populate import populate as populate

__all__ = ["Host", "populate"]
