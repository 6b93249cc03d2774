"""The dynamics suite of one articulation: what its equation of motion is made of, at its states, in all environments.

    M vdot + c + g = tau + J^T external,   M with armature, c of velocities, g of weights

| | gives | sign and frame |
| --- | --- | --- |
| `mass_matrix` | M | kinetic energy v^T M v / 2 |
| `gravity_force` | g | the efforts that hold the mechanism at rest |
| `coriolis_force` | c | the efforts that keep its velocities |
| `bias_force` | c + g | both in one pass |
| `external_force` | - J^T external | the efforts that compensate forces on links |
| `joint_force` | M vdot + c | the efforts of accelerations, without gravity |
| `joint_acceleration` | vdot | of efforts, with gravity, velocities and the external forces of `control` |
| `jacobian` | J | of each link velocity of the centre of mass, then angular velocity, world axes |
| `center_of_mass` | | world |
| `centroidal_momentum_matrix` | A | A v: momentum, then angular momentum about the centre of mass, world axes |
| `centroidal_momentum` | A v | the same axes |
| `mass_matrix_inverse`, `solve_mass_matrix` | M^-1, M^-1 b | with armature |
| `coefficient_matrix` | K | efforts of unit impulses of registered constraints: of tendons positive where longer |
| `constraint_impulses` | lambda | what these constraints do in a step; their efforts are K lambda / dt |
| `unpack_joints`, `pack_joints` | | dofs of joints as six axes each, linear first, in the sign of `joint_names` |

A contact point has three columns: its normal (positive: pressed on), and two tangents, which the shortest turn from Z
to the normal makes of X and Y (below the horizon: from -Z, of X and -Y); world axes, forces on its link.

E is the number of environments, V that of velocities: on a floating base six root columns first, velocity of the centre
of mass of the root link and its angular velocity (forces: force there and moment), in world axes; then the dofs in the
order of `joint_names`, those of ball joints along the axes of the child-side joint frame. Drives, limits, friction,
tendons, mimic joints, loop joints, distances and damping are not in it. Tendons, mimic joints, loop joints, distances
and contact points are the registered constraints of `coefficient_matrix` and `constraint_impulses` alone.

Every array is new and lies on the device, environments next to each other in memory. `out` takes an array that the same
method has returned before, and is overwritten and returned. An argument that is an array of such a method, with one row
for each environment, is read where it lies, without a copy and unchecked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.errors import SettingsError
from warp_artic.kernels.columns import axis_kernels_for, gather_kernel_for
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.field import Field
from warp_artic.sim.arrays.views import Member, by_environment, checked
from warp_artic.sim.suite.joint_axes import axis_places, check_locked, unpacked_joints
from warp_artic.sim.suite.registered import ConstraintImpulses, ContactPoint, Contacts, RegisteredConstraints

Launch = Callable[..., None]
"""Launches a kernel of the suite: name, its control if it has one, further arguments; registered constraints."""


@dataclass(frozen=True, eq=False)
class Axis:
    """The size of an axis of a result, for a mechanism and for an articulation of it."""

    size: int
    own: np.ndarray

    @staticmethod
    def whole(size: int) -> Axis:
        """All of it."""
        return Axis(size, np.arange(size))


@dataclass(frozen=True, eq=False)
class _Result:
    """Memory for a result of a mechanism, and of what of it is returned for an articulation."""

    found: wp.array
    own: Field
    whole: Field
    rows: wp.array | None
    """Which rows of the whole are returned; all of the first ones if None."""

    @property
    def numbers(self) -> wp.array:
        """What kernels write."""
        return self.whole.numbers

    @property
    def scalars(self) -> wp.array:
        """The same for people."""
        return self.whole.scalars

    def take(self) -> wp.array:
        """What is returned, once the whole is written."""
        if self.rows is not None and self.rows.size:
            scalars = self.own.scalars
            wp.launch(
                gather_kernel_for(scalars.dtype),
                dim=(self.rows.size, scalars.shape[1]),
                inputs=[self.whole.scalars, self.rows, scalars],
                device=scalars.device,
            )
        return self.found


def _rows_of(axes: Sequence[Axis]) -> tuple[int, np.ndarray]:
    """How many entries there are in a mechanism, and which of them are of an articulation."""
    chosen = np.zeros(1, int)
    for axis in axes:
        chosen = (chosen[:, None] * axis.size + axis.own).ravel()
    return int(np.prod([axis.size for axis in axes], dtype=int)), chosen


def _is_gathered(chosen: np.ndarray) -> bool:
    """Whether entries are others than the first ones."""
    return not np.array_equal(chosen, np.arange(len(chosen)))


class Dynamics:
    """The methods, on the states of one articulation.

    Args:
        member: The articulation in its group.
        articulation: Its description.
        dt: Time step [s].
        launch: See `Launch`.
    """

    def __init__(self, member: Member, articulation: Articulation, dt: float, launch: Launch):
        self._member = member
        self._articulation = articulation
        self._dt = dt
        self._launch = launch
        self._fields: dict[str, Field] = {}

    @cached_property
    def _movers(self) -> wp.array:
        """See `Tree.movers`."""
        return wp.array(self._member.group.tree.movers, dtype=int, device=self._member.group.columns.device)

    @cached_property
    def _apart(self) -> wp.array:
        """Entries of M, counted by rows, of pairs of dofs that do not move each other's links."""
        tree = self._member.group.tree
        links = np.zeros(self._size, int)
        for link in tree.order:
            links[tree.first_dof[link] : tree.first_dof[link] + tree.dof_counts[link]] = link
        moves = tree.movers[links] >= 0
        return wp.array(np.flatnonzero(~(moves | moves.T)), dtype=int, device=self._member.group.columns.device)

    @property
    def _size(self) -> int:
        """Dofs of the mechanism: V where the articulation is one by itself."""
        return self._member.group.tree.dof_count

    @cached_property
    def _velocities(self) -> Axis:
        """V of the articulation, among those of its mechanism."""
        return Axis(self._size, self._member.dofs)

    @property
    def _constraint_columns(self) -> Axis:
        """C of the articulation, among the constraints of its mechanism."""
        return Axis(self._constraints.count, self._constraints.columns)

    def mass_matrix(self, armature: bool = True, *, out: wp.array | None = None) -> wp.array:
        """M, with or without the inertia of armatures [kg, kg m, kg m^2], shape (E, V, V).

        Composite-rigid-body algorithm. Source: Generalized Mass Matrix.
        """
        result = self._result(out, self._velocities, self._velocities)
        self._launch("mass_matrix", None, int(armature), self._apart, result.numbers)
        return result.take()

    def mass_matrix_inverse(self, *, out: wp.array | None = None) -> wp.array:
        """M^-1 with armature, shape (E, V, V), from the factors of the articulated-body algorithm."""
        one = self._constant("one", lambda: np.eye(self._size).ravel())
        result = self._result(out, self._velocities, self._velocities)
        self._launch("solutions", self._control(), self._size, one.numbers, result.numbers)
        return result.take()

    def solve_mass_matrix(self, right, *, out: wp.array | None = None) -> wp.array:
        """M^-1 right, for `right` of shape (V) or (E, V), or several of them, (E, V, K); as many of them.

        Raises:
            SettingsError: The shape of `right` is another, or an entry is not finite.
        """
        several = tuple(right.shape if isinstance(right, wp.array) else np.shape(right))[2:]
        count = several[0] if several else 1
        axes = self._velocities, *map(Axis.whole, several)
        right = self._given("right", right, *axes)
        result = self._result(out, *axes)
        self._launch("solutions", self._control(), count, right.numbers, result.numbers)
        return result.take()

    def gravity_force(self, *, out: wp.array | None = None) -> wp.array:
        """g [N or N m], shape (E, V). Source: Compute Generalized Gravity Force."""
        return self._efforts(out, self._zero(), self._control(), 1, 0)

    def coriolis_force(self, *, out: wp.array | None = None) -> wp.array:
        """c, of Coriolis and centrifugal forces [N or N m], shape (E, V). Source: Compute Coriolis Joint Forces."""
        return self._efforts(out, self._zero(), self._control(), 0, 1)

    def bias_force(self, *, out: wp.array | None = None) -> wp.array:
        """c + g [N or N m], shape (E, V)."""
        return self._efforts(out, self._zero(), self._control(), 1, 1)

    def external_force(self, wrench, *, out: wp.array | None = None) -> wp.array:
        """- J^T wrench [N or N m], shape (E, V). Source: Compute Generalized External Force.

        Args:
            wrench: Force at the centre of mass [N] and moment [N m] on each link, world axes, (L, 6) or (E, L, 6).

        Raises:
            SettingsError: The shape of `wrench` is another, or an entry is not finite.
        """
        tree, own = self._member.group.tree, self._member
        links = Axis(tree.link_count, own.first_row("link") + np.arange(own.rows("link_pose")))
        wrench = self._given("wrench", wrench, links, Axis.whole(6))
        return self._efforts(out, self._zero(), self._control(wrench), 0, 0)

    def joint_force(self, joint_acceleration, *, out: wp.array | None = None) -> wp.array:
        """M vdot + c [N or N m], shape (E, V); without gravity. Source: Compute Joint Forces.

        Args:
            joint_acceleration: vdot, shape (V) or (E, V).

        Raises:
            SettingsError: The shape of `joint_acceleration` is another, or an entry is not finite.
        """
        acceleration = self._given("joint_acceleration", joint_acceleration, self._velocities)
        return self._efforts(out, acceleration, self._control(), 0, 1)

    def joint_acceleration(self, joint_force=None, *, out: wp.array | None = None) -> wp.array:
        """vdot under efforts, gravity, velocities and the external forces of `control`, shape (E, V).

        Source: Compute Joint Accelerations.

        Args:
            joint_force: tau, shape (V) or (E, V); zero by default.

        Raises:
            SettingsError: The shape of `joint_force` is another, or an entry is not finite.
        """
        force = self._zero() if joint_force is None else self._given("joint_force", joint_force, self._velocities)
        result = self._result(out, self._velocities)
        self._launch("accelerate", self._member.group.arrays.control, force.numbers, result.numbers)
        return result.take()

    def jacobian(self, *, out: wp.array | None = None) -> wp.array:
        """Velocities of links of unit velocities, shape (E, 6 L, V): six rows a link, linear, then angular.

        A link that is fixed to the world has no rows. Source: Jacobian.
        """
        tree, own = self._member.group.tree, self._member
        is_held = [parent == tree.link_count and not dofs for parent, dofs in zip(tree.parent, tree.dof_counts)]
        first = own.first_row("link")
        bodies = [link for link in range(first, first + own.rows("link_pose")) if not is_held[link]]
        places = (np.cumsum(np.logical_not(is_held)) - 1)[np.array(bodies, int)]
        rows = 6 * places[:, None] + np.arange(6)
        result = self._result(out, Axis(6 * (tree.link_count - sum(is_held)), rows.ravel()), self._velocities)
        vectors = self._scratch("vectors", 3 * (self._size + 2 * tree.link_count))
        self._launch("jacobian", None, self._movers, vectors.numbers, result.numbers)
        return result.take()

    def center_of_mass(self, *, out: wp.array | None = None) -> wp.array:
        """Of all links, world [m], shape (E, 3)."""
        return self._centroid(out, "center", Axis.whole(3))

    def centroidal_momentum(self, *, out: wp.array | None = None) -> wp.array:
        """Momentum [N s], and angular momentum about the centre of mass [N m s], world axes, shape (E, 6)."""
        return self._centroid(out, "momentum", Axis.whole(6))

    def centroidal_momentum_matrix(self, *, out: wp.array | None = None) -> wp.array:
        """A, shape (E, 6, V)."""
        return self._centroid(out, "matrix", Axis.whole(6), self._velocities)

    def register_contacts(self, points: Sequence[ContactPoint]) -> Contacts:
        """Give the articulation contact points, in place of those that it has; returns their arrays.

        They are for `coefficient_matrix` and `constraint_impulses` alone. Steps do not use them: their contacts are
        those of colliders.

        Raises:
            SettingsError: A point has a value that is not allowed, or no dof moves it.
        """
        self._constraints = RegisteredConstraints(self._member, self._articulation, points)
        return self._constraints.contacts

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Columns of the coefficient matrix: tendons, mimic joints, held axes of loop joints, distances, points."""
        return self._constraints.names

    def coefficient_matrix(self, *, out: wp.array | None = None) -> wp.array:
        """K, efforts of unit impulses of the registered constraints, shape (E, V, C), in the order of their names.

        Source: Loop Joints, Coefficient Matrix, and Lambda Constraint Impulses.
        """
        result = self._result(out, self._velocities, self._constraint_columns)
        self._launch("coefficients", None, self._constraints.count, result.numbers, constraints=self._constraints)
        return result.take()

    def constraint_impulses(self, joint_force=None, *, out: ConstraintImpulses | None = None) -> ConstraintImpulses:
        """lambda: impulses of the registered constraints in a step of dt from the present state, under given efforts.

            M vdot + c + g = tau + J^T external + K lambda / dt,   vdot as their laws want it

        Efforts of - K lambda / dt counteract them. The laws hold at the end of the step, v+ = v + dt vdot, with
        everything at the present positions: springs of tendons and compliant mimic joints by backward Euler, hard mimic
        joints, loop joints and contact points by their velocities; friction of contact points is within a pyramid.
        Solved directly; for wedged points with much friction no solution may be found, see `converged`. Drives, limits,
        friction and damping of joints, and drag of links are not in it. Source: Loop Joints, Coefficient Matrix, and
        Lambda Constraint Impulses.

        Args:
            joint_force: tau, shape (V) or (E, V); zero by default.
            out: What this method has returned before.

        Raises:
            SettingsError: The shape of `joint_force` is another, or an entry is not finite.
        """
        force = self._zero() if joint_force is None else self._given("joint_force", joint_force, self._velocities)
        if not isinstance(out, ConstraintImpulses | None):
            raise SettingsError("out: is not what this method has returned")
        shapes = (self._constraint_columns,), (self._velocities,), (self._velocities,), ()
        old = (None,) * 4
        if out is not None:
            old = out.impulse, out.joint_force, out.joint_acceleration, out.residual
        results = [self._result(array, *axes) for array, axes in zip(old, shapes)]
        self._launch(
            "impulses",
            self._member.group.arrays.control,
            self._constraints.count,
            self._dt,
            force.numbers,
            *(result.numbers for result in results),
            constraints=self._constraints,
        )
        found = [result.take() for result in results]
        return ConstraintImpulses(*found) if out is None else out

    @cached_property
    def _constraints(self) -> RegisteredConstraints:
        """Without contact points until there are some."""
        return RegisteredConstraints(self._member, self._articulation)

    def unpack_joints(self, values, *, out: wp.array | None = None) -> wp.array:
        """Values of dofs as six axes for each joint, shape (E, J, 6): transX to transZ, then rotX to rotZ.

        J joints, the inbound ones of the links that the Jacobian has, but for a floating root, in the order of links;
        a locked axis has zero. Source: Converting From and To Reduced Coordinate Joint DOF Coordinates.

        Args:
            values: Positions, velocities, forces or others of dofs of joints, shape (D) or (E, D).

        Raises:
            SettingsError: The shape of `values` is another, or an entry is not finite.
        """
        count = len(self._places)
        given = self._given("values", values, Axis.whole(count))
        joints = len(unpacked_joints(self._articulation))
        result = self._result(out, Axis.whole(joints), Axis.whole(6))
        result.scalars.zero_()
        self._copy_axes("unpack", given, result)
        return result.take()

    def pack_joints(self, values, *, out: wp.array | None = None) -> wp.array:
        """Values of dofs from those of six axes for each joint, shape (E, D); see `unpack_joints`.

        Args:
            values: Shape (J, 6) or (E, J, 6).

        Raises:
            SettingsError: The shape of `values` is another, an entry is not finite, or one of a locked axis is not
                zero. Locked axes of an array that `unpack_joints` has returned are not checked.
        """
        joints = len(unpacked_joints(self._articulation))
        if not self._is_own(values):
            values = values.numpy() if isinstance(values, wp.array) else values
            shape = (self._member.group.environments, joints, 6)
            check_locked(self._articulation, checked("values", values, shape))
        given = self._given("values", values, Axis.whole(joints), Axis.whole(6))
        result = self._result(out, Axis.whole(len(self._places)))
        self._copy_axes("pack", given, result)
        return result.take()

    @cached_property
    def _places(self) -> wp.array:
        """Where each dof is among the axes of all joints."""
        return wp.array(axis_places(self._articulation), dtype=int, device=self._member.group.columns.device)

    def _copy_axes(self, kernel: str, given: Field, field: _Result) -> None:
        """Copy the values of dofs from or to the rows of their axes, in all columns."""
        wp.launch(
            getattr(axis_kernels_for(field.scalars.dtype), kernel),
            dim=(len(self._places), field.scalars.shape[1]),
            inputs=[given.scalars, self._places, field.scalars],
            device=field.scalars.device,
        )

    def _efforts(self, out, acceleration: Field, control, with_gravity: int, with_velocities: int) -> wp.array:
        result = self._result(out, self._velocities)
        self._launch("efforts", control, with_gravity, with_velocities, acceleration.numbers, result.numbers)
        return result.take()

    def _centroid(self, out, name: str, *axes: Axis) -> wp.array:
        """One of the outputs of the kernel that finds all three."""
        sizes = {"center": 3, "momentum": 6, "matrix": 6 * self._size}
        fields = {other: self._scratch(other, size) for other, size in sizes.items() if other != name}
        fields[name] = result = self._result(out, *axes)
        group = self._member.group
        origins = np.repeat(group.origins.T, group.environments, axis=1)
        origin = self._constant("origin", lambda: origins)
        numbers = (fields[other].numbers for other in sizes)
        self._launch("centroid", None, self._member.part, origin.numbers, *numbers)
        return result.take()

    def _result(self, out: wp.array | None, *axes: Axis) -> _Result:
        """Memory for a result with an entry for each of all axes: that of an earlier one, or new."""
        rows, chosen = _rows_of(axes)
        own = len(chosen) if _is_gathered(chosen) else rows
        columns = self._member.group.columns
        field = Field.zeros(max(own, 1), columns) if out is None else getattr(out, "warp_artic_field", None)
        if field is None or field.columns is not columns or field.scalars.shape[0] != max(own, 1):
            raise SettingsError("out: is not an array that this method has returned for this articulation")
        shape = tuple(len(axis.own) for axis in axes)
        found = by_environment(self._member, field, *shape) if out is None else out
        if not _is_gathered(chosen):
            return _Result(found, field, field, None)
        uploaded = wp.array(chosen, dtype=int, device=columns.device)
        return _Result(found, field, self._scratch(f"result {rows}", rows), uploaded)

    def _given(self, name: str, values, *axes: Axis) -> Field:
        """An argument with an entry for each of its own, or with environments before, as a field with its rows first.

        Those of the mechanism that are not its own are zero.
        """
        group = self._member.group
        rows, chosen = _rows_of(axes)
        shape = tuple(len(axis.own) for axis in axes)
        if rows == len(chosen) and self._is_own(values) and values.shape == (group.environments, *shape):
            return values.warp_artic_field
        field = self._scratch(f"{name} {shape}", rows)
        values = values.numpy() if isinstance(values, wp.array) else values
        table = checked(name, values, (group.environments, *shape)).reshape(group.environments, -1)
        if table.size:
            dtype = wp.dtype_to_numpy(group.columns.numbers.scalar)
            spread = np.zeros((chosen.max() + 1, group.environments), dtype)
            spread[chosen] = table.T
            given = wp.array(spread, device=group.columns.device)
            wp.copy(field.view(self._member.first_column, group.environments)[: len(spread)], given)
        return field

    def _is_own(self, values) -> bool:
        """Whether an array is one that a method for this articulation has returned."""
        field = getattr(values, "warp_artic_field", None)
        if field is None or field.columns is not self._member.group.columns:
            return False
        return values.ptr == field.scalars.ptr + self._member.first_column * field.scalars.strides[1]

    def _zero(self) -> Field:
        """No accelerations, or no efforts."""
        return self._constant("zero", lambda: np.zeros(self._size))

    def _control(self, wrench: Field | None = None):
        """A control without efforts, and with no forces on links but the given ones."""
        if wrench is None:
            return self._at_rest
        control = arrays_for(self._member.group.columns.numbers).Control()
        control.link_external_force = wrench.numbers
        return control

    @cached_property
    def _at_rest(self):
        """A control without efforts and forces."""
        links = 6 * self._member.group.tree.link_count
        return self._control(self._constant("rest", lambda: np.zeros(links)))

    def _constant(self, name: str, values: Callable[[], np.ndarray]) -> Field:
        """A field that is made once."""
        if name not in self._fields:
            self._fields[name] = Field.of(values(), self._member.group.columns)
        return self._fields[name]

    def _scratch(self, name: str, rows: int) -> Field:
        """Memory that is made once, and written before each use."""
        if name not in self._fields:
            self._fields[name] = Field.zeros(rows, self._member.group.columns)
        return self._fields[name]
