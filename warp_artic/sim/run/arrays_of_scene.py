"""State, control and parameters of all articulations of a run, as a simulation has them."""

from __future__ import annotations

from functools import partial

from warp_artic.errors import UnknownNameError
from warp_artic.sim.arrays.views import CONTROL, OUTPUTS, PARAMETERS, STATE, STEP_OUTPUTS, ArrayViews
from warp_artic.sim.run.access import array_of_scene
from warp_artic.sim.run.state import Run


class ArraysOfScene:
    """What a simulation has of arrays."""

    def __init__(self, run: Run):
        get = partial(array_of_scene, run)
        self._state = ArrayViews((*STATE, *OUTPUTS, *STEP_OUTPUTS), get, (*OUTPUTS, *STEP_OUTPUTS))
        self._control = ArrayViews(CONTROL, get)
        self._parameters = ArrayViews(PARAMETERS, get)

    @property
    def state(self) -> ArrayViews:
        """Arrays of the motion, and of what follows from it or from a step."""
        return self._state

    @state.setter
    def state(self, values: object) -> None:
        raise _no_array("state", "joint_position")

    @property
    def control(self) -> ArrayViews:
        """Arrays of targets, efforts and external forces."""
        return self._control

    @control.setter
    def control(self, values: object) -> None:
        raise _no_array("control", "joint_effort")

    @property
    def parameters(self) -> ArrayViews:
        """Arrays of masses, gains, limits and so on, for each environment from when they are asked for."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: object) -> None:
        raise _no_array("parameters", "link_mass")


def _no_array(views: str, name: str) -> UnknownNameError:
    return UnknownNameError(
        f"{views}: has several arrays; write to one of them, such as simulation.{views}.{name} = values"
    )
