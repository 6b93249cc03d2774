"""Plays a stage in scripts and notebooks: the simulation runs, and the stage shows it."""

from warp_artic.extensions.usd.player import Player as Player
from warp_artic.extensions.usd.player import play as play

__all__ = ["Player", "play"]
