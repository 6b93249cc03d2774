"""SolverWarpArtic: steps a model of Newton with a simulation of ours."""

from __future__ import annotations

import math
from dataclasses import replace

import newton
import numpy as np
import warp as wp
from warp_artic.extensions.newton.contacts import ContactsOfNewton, slots_of
from warp_artic.extensions.newton.coordinates import Coordinates, Places
from warp_artic.extensions.newton.match import counting_turns, match
from warp_artic.extensions.newton.numbers import (
    MASS_PROPERTIES,
    Numbers,
    Reader,
    described,
    in_the_first,
    in_the_scene,
    mass_property,
    nothing_in,
)
from warp_artic.extensions.newton.refusals import (
    check_model,
    check_scene,
    check_state,
    warn_of_what_is_left,
    warn_of_what_is_left_of_shapes,
)
from warp_artic.extensions.newton.translate import translate
from warp_artic.extensions.newton.worlds import worlds_of

from warp_artic.description.contact_slots import with_contact_slots, without_contacts
from warp_artic.description.scene import Scene
from warp_artic.errors import HostError
from warp_artic.sim.run.layout import are_laid_out_alike
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings

RELEVANT = int(
    newton.ModelFlags.JOINT_PROPERTIES
    | newton.ModelFlags.JOINT_DOF_PROPERTIES
    | newton.ModelFlags.JOINT_DOF_FORCE_PROPERTIES
    | newton.ModelFlags.JOINT_DOF_INERTIAL_PROPERTIES
    | newton.ModelFlags.JOINT_REFERENCE_POSE_PROPERTIES
    | newton.ModelFlags.BODY_PROPERTIES
    | newton.ModelFlags.BODY_INERTIAL_PROPERTIES
    | newton.ModelFlags.MODEL_PROPERTIES
    | newton.ModelFlags.CONSTRAINT_PROPERTIES
)
"""Changes of what is simulated."""
WHOLE = 1e-6
"""By how much a time step may differ from a whole number of steps of ours, relative to it."""


class SolverWarpArtic(newton.solvers.SolverBase):
    """Steps the articulations of a model with the direct solver, or another one, of warp_artic.

    Worlds that are alike but for numbers are the environments of one simulation; others lie beside each other in one
    environment. Positions and velocities of a state that are not those given out last are taken in, and then steps
    remember nothing of before. Contacts are those of colliders of a `scene`, or with `contact_points` those that a
    collision pipeline of Newton has found and `step` is given.

    A model has no fixed and spatial tendons of stages, no cones, no load friction and no soft mimic joints. With
    `scene`, read from the stage that the model was read from, all of these are stepped as `warp-artic simulate` steps
    them: the scene then says what is simulated, joints and bodies are found by their prim paths, and of the numbers of
    the model those count that are changed after the construction, or that differ between worlds. Attributes of a model
    cannot say as much: tendons are named by instances, and theirs are not known before a stage is read.

    Args:
        model: What to step.
        scene: From `warp_artic.read_stage`, where the stage has more than the model.
        dt: Time step [s]; by default that of the settings, else that of the first step. A graph is captured of steps
            whose time step is known before.
        settings: Of the simulation; its time step may be a whole part of the one of steps.
        threads: Most threads that step at once, on a CPU.
        contact_points: How many points of contact two bodies may have whose shapes collide in the model, of those that
            `step` is given; of more the deepest are taken. With them colliders of the `scene` touch nothing. Bodies
            that may touch are solved together, so that there is a bound for their number (`with_contact_slots`).

    Raises:
        HostError: There is something in the model that cannot be simulated; it says which joint or body, and why.
        DescriptionError: A mass, an inertia or another number is not one of a mechanism.
    """

    def __init__(
        self,
        model: newton.Model,
        *,
        scene: Scene | None = None,
        dt: float | None = None,
        settings: SolverSettings | None = None,
        threads: int | None = None,
        contact_points: int = 0,
    ):
        super().__init__(model)
        check_model(model)
        if not contact_points:
            warn_of_what_is_left_of_shapes(model, scene)
        warn_of_what_is_left(model)
        if scene is not None:
            check_scene(scene)
        self.simulation: Simulation | None = None
        """What steps; None until the time step is known."""
        self._coordinates: Coordinates | None = None
        self._neutral: Numbers | None = None
        self._contacts: ContactsOfNewton | None = None
        self._contact_points = contact_points
        if scene is not None and contact_points:
            scene = without_contacts(scene)
        self._given = None if scene is None else counting_turns(scene)
        self._threads, self._settings = threads, settings or SolverSettings()
        self._targets = wp.clone(model.joint_target_q), wp.clone(model.joint_target_qd)
        if scene is None:
            for array in self._targets:
                array.fill_(math.nan)
        self._places = Places(model)
        self._read()
        known = self._settings.dt if dt is None else dt
        if known is not None:
            self._settings = replace(self._settings, dt=known)
            self._build()

    def step(self, state_in, state_out, control, contacts, dt, *, observables=None) -> None:
        """Advance by a time step, of as many steps of the settings as it has.

        `contacts` are those of `state_in`, from a collision pipeline of Newton; they are not looked at where the solver
        was made without `contact_points`. Those that it has no room for, `simulation.given_contacts.left_out` counts.

        Raises:
            HostError: The time step is not a whole number of those of the settings, or gradients are asked for.
        """
        self.validate_observables(observables, contacts)
        check_state(state_in)
        if self.simulation is None:
            self._settings = replace(self._settings, dt=float(dt))
            self._build()
        count = self._count(dt)
        self._coordinates.take_state(state_in)
        self._coordinates.take_control(self.model if control is None else control, state_in)
        if self._contacts is not None:
            self._contacts.give(state_in, contacts)
        self.simulation.step(count)
        self._coordinates.give_state(state_out)

    def start_state(self) -> newton.State:
        """A new state at the start of the scene, or at that of the model where none is given.

        Newton reads the states of joints and the velocities of bodies that a stage authors in part only.

        Raises:
            HostError: The time step is not known yet.
        """
        if self.simulation is None:
            raise HostError("start_state: the time step is not known yet; SolverWarpArtic(model, dt=...) says it")
        state = self.model.state()
        if self._given is None:
            newton.eval_fk(self.model, state.joint_q, state.joint_qd, state)
        else:
            self._coordinates.give_start(state)
        return state

    def reset(self, state, world_mask=None, flags=None) -> None:
        """Put positions and velocities of joints back to those of the model, in worlds that a mask chooses.

        Steps remember nothing of before in these worlds. Bodies follow with the next step.

        Args:
            state: Is written to.
            world_mask: Shape (world_count + 1), the last entry for what is in all worlds; all by default.
            flags: Which parts of the state, of `newton.StateFlags`; all by default.
        """
        mask = self._normalize_reset_world_mask(world_mask)
        if mask is None:
            mask = wp.full(self.model.world_count + 1, True, dtype=wp.bool, device=self.model.device)
        flags = int(newton.StateFlags.ALL if flags is None else flags)
        if flags & newton.StateFlags.JOINT_Q:
            self._places.put_back_q(mask, state.joint_q, self.model.joint_q)
        if flags & newton.StateFlags.JOINT_QD:
            self._places.put_back_qd(mask, state.joint_qd, self.model.joint_qd)
        if self._coordinates is not None:
            self._places.forget(mask, self._coordinates.seen_q, self._coordinates.seen_qd)

    def notify_model_changed(self, flags) -> None:
        """Take in numbers of the model that changed: gains, limits, friction, masses, mimic joints, gravity and so on.

        The simulation is made anew only where another structure follows: a limit where there was none, other frames.

        Args:
            flags: Of `newton.ModelFlags`; those of shapes, tendons and actuators concern nothing that is simulated.

        Raises:
            HostError: As at the construction.
            DescriptionError: As at the construction.
        """
        if not int(flags) & RELEVANT:
            return
        before, changed = (self._base, self._binding, self._reader.placements), self._changed
        self._read()
        if self.simulation is None:
            return
        is_new = bool(int(flags) & newton.ModelFlags.JOINT_PROPERTIES)
        is_new = is_new or before != (self._base, self._binding, self._reader.placements)
        if self._given is not None:  # what is as at first again is as in the scene
            is_new = is_new or any((changed[name] & ~mask).any() for name, mask in self._changed.items())
        if is_new or not self._has_structure_of(self._scene):
            self._build()
        else:
            self._set_numbers()
            self._coordinates.set_modes(self._follows_velocity)

    def _read(self) -> None:
        """Understand the model as it is now."""
        self._worlds = worlds_of(self.model)
        if self._given is None:
            self._base, self._binding = translate(self.model, self._worlds)
        else:
            if self._worlds.count != max(self.model.world_count, 1):
                raise HostError("the worlds of the model differ in more than numbers, and a scene is of one world")
            self._base, self._binding = self._given, match(self.model, self._worlds, self._given)
        if self._contact_points:
            slots = slots_of(self.model, self._worlds, self._binding, self._contact_points)
            self._base = with_contact_slots(self._base, slots)
        self._reader = Reader(self.model, self._worlds, self._base, self._binding, self._given is None)
        self._numbers = self._reader.numbers()
        if self._given is None:
            self._neutral = nothing_in(self._numbers)
        elif self._neutral is None:
            self._neutral = in_the_first(self._numbers, self._given)
        self._changed = {name: values != self._neutral[name] for name, values in self._numbers.items()}
        self._scene = described(self._base, self._numbers, self._changed)

    def _build(self) -> None:
        """Make the simulation, at its start; the state of Newton is taken in where it is another."""
        self.simulation = Simulation(
            self._scene,
            environments=self._worlds.count,
            device=str(self.model.device),
            settings=self._settings,
            threads=self._threads,
        )
        self._set = in_the_scene(self._numbers)
        self._set_numbers()
        self._coordinates = Coordinates(
            self.model,
            self._worlds,
            self._binding,
            self._reader.articulation_worlds,
            self._reader.placements,
            self.simulation,
            self._follows_velocity,
            self._targets,
        )
        if self.simulation.given_contacts:
            self._contacts = ContactsOfNewton(
                self.model, self._worlds, self._binding, self._reader.placements, self.simulation
            )

    def _has_structure_of(self, scene: Scene) -> bool:
        """Whether the simulation differs from one of a scene in numbers only."""
        pairs = zip(self.simulation.scene.articulations, scene.articulations)
        return all(are_laid_out_alike(one, other) for one, other in pairs)

    def _set_numbers(self) -> None:
        """Write the numbers that are others than those of the simulation."""
        differs = {name: values != self._set[name] for name, values in self._numbers.items()}
        if self._given is not None:
            differs = {name: mask & self._changed[name] for name, mask in differs.items()}
        for name, mask in differs.items():
            if name not in MASS_PROPERTIES and mask.any():
                array = getattr(self.simulation.parameters, name)
                values = array.numpy()
                values[mask] = self._numbers[name][mask]
                array.assign(values)
        for name in MASS_PROPERTIES:
            environments = np.flatnonzero(differs[name].any(axis=(0, 1)))
            if len(environments):
                own = mass_property(name, self._scene, self._numbers, self._changed)
                self.simulation.set_mass_properties(
                    **{name: np.moveaxis(own[..., environments], -1, 0)}, environments=environments
                )
        self._set = self._numbers

    @property
    def _follows_velocity(self) -> np.ndarray:
        """By dof and environment; stages know no modes."""
        modes = self._reader.follows_velocity
        return modes if self._given is None else np.ones_like(modes)

    def _count(self, dt: float) -> int:
        """Steps of the simulation in a time step."""
        steps = float(dt) / self.simulation.settings.dt
        count = round(steps)
        if count < 1 or abs(steps - count) > WHOLE * count:
            raise HostError(
                f"dt: {dt:g} s is no whole number of steps of {self.simulation.settings.dt:g} s, which this solver was "
                "made for; SolverWarpArtic(model, dt=...) makes one for another"
            )
        return count
