"""What passes between the groups of mechanisms and the arrays of a large stage, before and after a step.

Bodies without joints have their velocities after a step without contacts from Newton's and Euler's equations;
mechanisms with joints make that step aside, and it is taken back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from warp_artic.description.pose import rotation_vector_from_matrix
from warp_artic.islands.exchange import exchange_functions, exchange_kernels, single_body_kernels, tree_kernels
from warp_artic.islands.take_rows import take_rows_kernel
from warp_artic.mechanisms.group import Group
from warp_artic.model.field import Field
from warp_artic.sim.arrays.row_table import RowTables
from warp_artic.sim.islands.layout import GroupPart, IslandLayout
from warp_artic.sim.launch.launches import Launches
from warp_artic.solver.settings import SolverSettings

OF_MASSES = {
    "link_center": "link_center",
    "link_frame": "link_frame",
    "link_mass": "link_mass",
    "link_inertia": "link_inertia",
    "linear_damping": "link_linear_damping",
    "angular_damping": "link_angular_damping",
    "gravity_scale": "link_gravity_scale",
    "gravity": "gravity",
}
"""Parameters of a group, by the fields of `Masses`."""


class Exchange:
    """Takes links and velocities, and gives forces and displacements.

    Args:
        layout: The arrays of the stage.
        settings: Of the steps.
    """

    def __init__(self, layout: IslandLayout, settings: SolverSettings):
        self._layout, self._h = layout, settings.dt
        self._has_middle = int(settings.integrator == "midpoint")
        self.ahead = 0.5 * settings.dt * self._has_middle
        self._end_weight = 1.0 - 0.5 * self._has_middle
        self._masses_struct = exchange_functions(settings.precision).Masses
        self._kernels = exchange_kernels(settings.precision)
        self._of_bodies = single_body_kernels(settings.precision)
        self._of_trees = tree_kernels(settings.precision)
        self._take_rows = take_rows_kernel(settings.precision)
        self._trees = [part for part in layout.parts if not part.is_body]
        fields = (part.group.field("link_external_force").scalars for part in layout.parts)
        self._given = [(field, wp.clone(field)) for field in fields]
        self._known_masses: dict[int, tuple[list[wp.array], Any]] = {}

    def take_links(self) -> None:
        """Take where links are, how they move and which joints have broken, which is up to date in their groups."""
        layout = self._layout
        for part in layout.parts:
            found = [part.group.field(name).scalars for name in ("link_pose", "link_velocity")]
            inputs = [*found, self._masses(part.group), part.links, part.columns, part.numbers, part.origins]
            self._launch(self._kernels.take_links, part.links, [*inputs, layout.bodies])
            if part.filter_numbers.size:
                inputs = [part.group.field("loop_broken").scalars, part.filter_rows, part.filter_columns]
                self._launch(
                    self._kernels.take_broken, part.filter_numbers, [*inputs, part.filter_numbers, layout.joint_filters]
                )

    def place_kinematic(self, step: int) -> None:
        """Place kinematic bodies at the beginning of a step, with their mean velocity in it."""
        layout, bodies = self._layout, self._layout.bodies
        motions = layout.tables.motions
        if not motions:
            return
        count, first = layout.environments, bodies.count - len(motions)
        for number, motion in enumerate(motions):
            (R_0, p_0), (R_1, p_1) = (motion.displacement((step + k) * self._h, np.zeros(3)) for k in (0, 1))
            turn = rotation_vector_from_matrix(R_1 @ R_0.T) / self._h
            values = {"position": p_0, "center": p_0, "axes": R_0, "linear": (p_1 - p_0) / self._h, "angular": turn}
            if motion.surface is not None:
                spin, slide = motion.surface.at(motion.at((step + 0.5) * self._h), p_0)
                values |= {"surface_angular": spin, "surface_linear": slide}
            for name, value in values.items():
                array = getattr(bodies, name)
                found = array.numpy()
                found[first + number : count * bodies.count : bodies.count] = value
                if not array.device.is_cpu:
                    array.assign(found)

    def take_motion(self, launches: Launches, tables: RowTables) -> None:
        """Take M^-1 and J of links, and velocities before and after a step without contacts."""
        layout = self._layout
        for part in layout.parts:
            if part.is_body:
                group = part.group
                names = ("failure", "steps_at_rest", "link_external_force")
                inputs = [self._masses(group), *(group.field(name).scalars for name in names)]
                inputs += [part.mechanism_columns, part.mechanism_numbers, part.own_bodies, self._h]
                inputs += [self._end_weight, layout.bodies, layout.mechanisms]
                self._launch(self._of_bodies.take_bodies, part.mechanism_columns, inputs)
        if self._trees:
            self._take_trees(launches, tables)

    def keep_given(self) -> None:
        """Remember the external forces on links that are given."""
        for field, given in self._given:
            wp.copy(given, field)

    def give_back(self) -> None:
        """Leave external forces on links as they were given."""
        for field, given in self._given:
            wp.copy(field, given)

    def begin(self) -> None:
        """Begin a step without predicted motion, at the velocities without contacts."""
        wp.copy(self._layout.mechanisms.v, self._layout.mechanisms.free)
        self._layout.bodies.prediction_count.zero_()
        self._layout.bodies.is_deflected.zero_()

    def begin_again(self) -> None:
        """Have nothing push links yet, and all else be as it was before impulses were found."""
        self._layout.bodies.force.zero_()
        self._layout.bodies.moment.zero_()
        self._take_found()

    def give_forces(self) -> None:
        """Add the forces of contacts to external forces on links, and let islands be at rest together."""
        layout = self._layout
        for part in self._layout.parts:
            outputs = [part.group.field(name).scalars for name in ("link_external_force", "steps_at_rest")]
            inputs = [part.links, part.columns, part.numbers, layout.bodies, layout.mechanisms, *outputs]
            self._launch(self._kernels.give_forces, part.links, inputs)
            if not part.is_body:
                is_touched = part.group.field("is_touched").scalars
                inputs = [part.mechanism_columns, part.own_bodies, layout.bodies, is_touched]
                self._launch(self._of_trees.mark_touched, part.mechanism_columns, inputs)
            elif self._has_middle:
                names = "smooth_acceleration", "acceleration_change", "smoothness"
                inputs = [self._masses(part.group), part.mechanism_columns, part.mechanism_numbers, self._h]
                inputs += [layout.mechanisms, *(part.group.field(name).scalars for name in names)]
                self._launch(self._of_bodies.give_expectations, part.mechanism_columns, inputs)

    def add_contact_work(self, launches: Launches) -> None:
        """Add the work of contacts to the energies that mechanisms with joints would have without them."""
        for part in self._trees:
            mechanisms, found = self._layout.mechanisms, part.tables
            names = "free_velocities", "velocities", "energies", "touched"
            self._give_motion(part, mechanisms.free, found[names[0]])
            self._give_motion(part, mechanisms.v, found[names[1]])
            arrays = (found[name].numbers for name in names)
            launches.dynamics(part.group, "contact_work", part.group.arrays.control, self._h, self.ahead, *arrays)

    def limit_energies(self, launches: Launches) -> None:
        """Let mechanisms with joints have no more energy than contacts have left them."""
        for part in self._trees:
            arrays = (part.tables[name].numbers for name in ("energies", "touched"))
            launches.dynamics(part.group, "touched_energies", part.group.arrays.control, *arrays)

    def keep_spins(self) -> None:
        """Let bodies that turn fast have no more energy than contacts have left them."""
        layout = self._layout
        for part in layout.parts:
            if part.is_body:
                group = part.group
                inputs = [self._masses(group), part.mechanism_columns, part.mechanism_numbers, part.own_bodies, self._h]
                inputs += [layout.bodies, layout.mechanisms]
                inputs += [group.field(name).scalars for name in ("root_pose", "root_velocity")]
                self._launch(self._of_bodies.keep_spins, part.mechanism_columns, inputs)

    def keep_accelerations(self) -> None:
        """Leave impacts out of the accelerations that mechanisms with joints expect in the next step."""
        layout = self._layout
        for part in self._trees:
            names = ("is_touched", "smooth_acceleration", "acceleration_change", "input_change", "smoothness")
            inputs = [part.mechanism_columns, part.mechanism_numbers, self._h, layout.mechanisms]
            inputs += [part.group.field(name).scalars for name in names]
            self._launch(self._of_trees.keep_accelerations, part.mechanism_columns, inputs)

    def hand_displacements(self) -> None:
        """Hand mechanisms with loops the displacements that contacts add to the step, after which they close loops."""
        for part in self._trees:
            if _closes_after_contacts(part):
                given = part.group.field("contact_displacement")
                self._give_motion(part, self._layout.mechanisms.displacement, given)

    def give_displacements(self, launches: Launches) -> None:
        """Move the other mechanisms by them."""
        for part in self._layout.parts:
            if not _closes_after_contacts(part):
                self._give_displacement(part, launches)

    def _give_displacement(self, part: GroupPart, launches: Launches) -> None:
        self._give_motion(part, self._layout.mechanisms.displacement, part.displacement)
        launches.displace(part.group, part.displacement)

    def _give_motion(self, part: GroupPart, motion: wp.array, given: Field) -> None:
        inputs = [part.mechanism_columns, part.mechanism_numbers, self._layout.mechanisms, motion, given.scalars]
        self._launch(self._kernels.give_motion, part.mechanism_columns, inputs)

    def _take_trees(self, launches: Launches, tables: RowTables) -> None:
        layout = self._layout
        groups = [part.group for part in self._trees]
        chosen = [index for group in groups for mechanism in group.members for index in mechanism]
        table = tables.of_state(tuple(groups[0].state), chosen)
        everywhere = np.arange(layout.environments, dtype=np.int32)
        if not wp.get_device(layout.device).is_cpu:
            everywhere = layout.everywhere
        kept = table.take(everywhere)
        for part in self._trees:
            group, found = part.group, part.tables
            size, control = group.tree.dof_count, group.arrays.control
            wp.copy(found["started"].scalars, group.field("started").scalars)
            self._take_velocities(part, layout.mechanisms.start, self.ahead)
            of_rows = found["rows"], *(found[name].numbers for name in ("bounds", "gradients", "pushes"))
            if part.has_rows:
                launches.dynamics(group, "bounds", None, self._h, *of_rows)
            if self.ahead:
                self._give_displacement(part, launches)
            free, held, yielding, drives = (found[name].numbers for name in ("free", "held", "yielding", "drives"))
            launches.dynamics(group, "solutions", control, size, found["one"].numbers, free)
            square_root = [found[name].numbers for name in ("square_root", "has_square_root")]
            if held is free:
                launches.dynamics(group, "square_roots", control, *square_root)
            else:
                arrays = free, held, yielding, drives, *of_rows, *square_root, found["has_holding_rows"]
                launches.dynamics(group, "held_solutions", control, self._has_middle, self._h, *arrays)
            arrays = found["vectors"].numbers, found["jacobian"].numbers
            launches.dynamics(group, "jacobian", None, found["movers"], *arrays)
        if self.ahead:
            table.put(kept, everywhere)
        for part in self._trees:
            part.group.field("is_touched").scalars.fill_(1.0)
            part.group.field("contact_displacement").scalars.zero_()
        launches.step_aside([(part.group, part.forces) for part in self._trees])
        for part in self._trees:
            self._take_velocities(part, layout.mechanisms.free, 0.0)
            energies = part.tables["energies"].numbers
            launches.dynamics(part.group, "free_energies", part.group.arrays.control, energies)
        self._take_found()
        table.put(kept, everywhere)

    def _take_found(self) -> None:
        """Take M^-1 and J of mechanisms with joints, and what holds single joints, from their tables."""
        layout = self._layout
        for part in self._trees:
            names = ("failure", "steps_at_rest")
            tables = "free", "held", "square_root", "has_square_root", "jacobian"
            inputs = [part.tables[name].scalars for name in tables]
            inputs += [*(part.group.field(name).scalars for name in names), part.tables["started"].scalars]
            inputs += [part.mechanism_columns, part.mechanism_numbers, part.own_bodies, part.jacobian_links]
            inputs += [self._end_weight, layout.bodies, layout.mechanisms]
            self._launch(self._of_trees.take_trees, part.mechanism_columns, inputs)
            if part.has_rows:
                names = "bounds", "gradients", "pushes", "yielding", "drives", "parts", "row_margin"
                inputs = [*(part.tables[name].scalars for name in names), part.tables["rows"], part.tables["row_parts"]]
                inputs += [part.mechanism_columns, part.mechanism_numbers, self._h, layout.mechanisms]
                self._launch(self._take_rows, part.mechanism_columns, inputs)

    def _take_velocities(self, part: GroupPart, velocities: wp.array, ahead: float) -> None:
        """Take the velocities that mechanisms have now, and displacements by them in a time ahead."""
        group = part.group
        inputs = [group.field(name).scalars for name in ("root_velocity", "joint_velocity", "failure")]
        inputs += [
            part.mechanism_columns,
            part.mechanism_numbers,
            group.tree.root_dofs,
            ahead,
            self._layout.mechanisms,
            velocities,
        ]
        self._launch(self._of_trees.take_velocities, part.mechanism_columns, inputs)

    def _masses(self, group: Group):
        """Parameters of a group, where they are: they move when environments no longer share their values."""
        fields = [group.parameters[name] for name in OF_MASSES.values()]
        places = [field.scalars for field in fields]
        known, masses = self._known_masses.get(id(group), ([], None))
        if len(known) != len(places) or any(one is not other for one, other in zip(known, places)):
            masses = self._masses_struct()
            for name, field in zip(OF_MASSES, fields):
                setattr(masses, name, _by_column(field))
            self._known_masses[id(group)] = places, masses
        return masses

    def _launch(self, kernel: wp.Kernel, several: wp.array, inputs: list) -> None:
        self._layout.launch(kernel, (self._layout.environments, several.size), inputs)


def _closes_after_contacts(part: GroupPart) -> bool:
    """Whether a step closes loops after what contacts add to it; a link on its own begins anew after that."""
    return part.group.tree.has_loops and part.group.tree.link_count > 1


def _by_column(field: Field) -> wp.array:
    """The scalars of a field with a column for each environment; those that all share have no pitch."""
    scalars = field.scalars
    if not field.is_shared:
        return scalars
    return wp.array(
        ptr=scalars.ptr,
        dtype=scalars.dtype,
        shape=(scalars.shape[0], field.columns.pitch),
        strides=(scalars.strides[0], 0),
        device=scalars.device,
        copy=False,
    )
