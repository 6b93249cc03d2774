"""warp_artic: articulated-body simulation for USD, in NVIDIA Warp.

import warp_artic as wa

scene = wa.read_stage("arm.usda")
simulation = wa.Simulation(scene)
recording = simulation.record(steps=480)
wa.write_results("arm.usda", recording, "arm_baked.usdc")
"""

from importlib import import_module
from importlib.metadata import version

from warp_artic.usd.schemas import register_plugins

_PUBLIC = {
    "ArticError": "warp_artic.errors",
    "DescriptionError": "warp_artic.errors",
    "HostError": "warp_artic.errors",
    "SettingsError": "warp_artic.errors",
    "SolveError": "warp_artic.errors",
    "StageError": "warp_artic.errors",
    "ContactPoint": "warp_artic.sim.registered",
    "Scene": "warp_artic.description.scene",
    "IncomingForces": "warp_artic.sim.incoming_forces",
    "Recording": "warp_artic.sim.recording",
    "Simulation": "warp_artic.sim.simulation",
    "SolverSettings": "warp_artic.solver.settings",
    "check_stage": "warp_artic.usd.read_stage",
    "read_stage": "warp_artic.usd.read_stage",
    "rollout": "warp_artic.sim.rollout",
    "schema_root": "warp_artic.usd.schemas",
    "solve_tendons": "warp_artic.sim.solve_tendons",
    "write_results": "warp_artic.usd.write_results",
}
"""Public name -> the module that has it; loaded when first asked for, so that no part costs before it is used."""

_MODULES = ("author",)
"""Public modules, loaded likewise."""

__all__ = sorted((*_PUBLIC, *_MODULES))

register_plugins()


def __getattr__(name: str):
    if name == "__version__":
        return version("warp-artic")
    if name in _MODULES:
        return import_module(f"warp_artic.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'warp_artic' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return [*__all__, *globals()]
