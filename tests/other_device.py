"""All tests on another device, by `pytest --device cuda:0`: what names no device runs there in place of the CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

import warp_artic as wa
from tests.meshes import equilibria
from warp_artic.meshes import adjoint, elastic, equilibrium, tendon_plan, tendons
from warp_artic.sim.run import begin

HAVE_DEVICES = (
    wa.Simulation.__init__,
    wa.solve_tendons,
    adjoint.DeformedInverse.__init__,
    elastic.ElasticMesh.__init__,
    equilibrium.mesh_with_tendons,
    equilibria.solve_equilibrium,
    tendon_plan.plan_deformed_tendons,
    tendon_plan.plan_tendons,
    tendons.MeshTendons.__init__,
)
"""What has an argument `device`."""


def use(device: str) -> None:
    """Take this device where none is named; tests that ask for lanes or threads of a CPU are skipped."""
    for function in HAVE_DEVICES:
        defaults = function.__kwdefaults__ or {}
        if defaults.get("device") == "cpu":
            function.__kwdefaults__ = defaults | {"device": device}
        else:
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            place = names.index("device") - len(names)
            values = list(function.__defaults__)
            values[place] = device
            function.__defaults__ = tuple(values)
    begin._numbers = _skipping(begin._numbers)
    begin._threads = _skipping(begin._threads)


def _skipping(function: Callable) -> Callable:
    """Skip a test where a setting is for the CPU alone."""

    @functools.wraps(function)
    def skipping(*arguments):
        try:
            return function(*arguments)
        except wa.SettingsError as error:
            if "for the CPU" not in str(error):
                raise
            pytest.skip(str(error))

    return skipping
