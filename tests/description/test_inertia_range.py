"""Mechanisms that are so large or small, heavy or light, that a precision cannot compute with them."""

from dataclasses import replace

import numpy as np
import pytest

from tests import trees
from tests.usd.authoring import body, errors_of, open_text
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.inertia_range import inertias_out_of_range
from warp_artic.description.pose import Pose
from warp_artic.usd.read_stage import inspect_stage

MICRO = (1e-6, 1e-18)
MEGA = (1e6, 1e18)
LIGHT = (1.0, 1e-30)
HEAVY = (1.0, 1e30)


def scaled(tree, length, mass):
    """A mechanism of the same shape in other units: sizes and masses times so much."""

    def pose(frame: Pose) -> Pose:
        return replace(frame, position=tuple(length * x for x in frame.position))

    links = tuple(
        replace(
            link,
            mass=mass * link.mass,
            center_of_mass=tuple(length * x for x in link.center_of_mass),
            inertia=tuple(mass * length**2 * x for x in link.inertia),
            pose=pose(link.pose),
        )
        for link in tree.links
    )
    joints = tuple(
        replace(joint, parent_frame=pose(joint.parent_frame), child_frame=pose(joint.child_frame))
        for joint in tree.joints
    )
    return replace(tree, links=links, joints=joints)


@pytest.mark.parametrize("kind", ["revolute_y", "spherical"])
@pytest.mark.parametrize("scale", [MICRO, MEGA, LIGHT, HEAVY])
def test_out_of_range_is_said_before_the_first_step(kind, scale):
    """With what it is of, what was found, and what helps; in float64 it moves as the same shape of ordinary size."""
    tree = scaled(trees.chain(2, kind), *scale)
    with pytest.raises(SettingsError) as refused:
        Simulation(trees.scene(tree), settings=SolverSettings(precision="float32"))
    first = str(refused.value).splitlines()[0]
    assert first.startswith(f"{tree.dofs[0].name}: the inertia of what it moves is ")
    assert 'must be from 1e-21 to 1e+19 for float32 to compute with it; precision "float64" can' in first
    assert "inf" not in first
    length = scale[0]
    wanted, found = (
        Simulation(
            trees.scene(one, gravity=(0.0, 0.0, -9.81 * size)), settings=SolverSettings(precision="float64")
        ).record(20)
        for one, size in ((trees.chain(2, kind), 1.0), (tree, length))
    )
    np.testing.assert_allclose(found.joint_position, wanted.joint_position, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [(1e-4, 1e-9), (1e-3, 1e-9), (1e3, 1e9), (1.0, 1e-16), (1.0, 1e17)])
@pytest.mark.parametrize("kind", ["revolute_y", "spherical"])
def test_what_is_in_range_moves_alike_at_any_size(scale, kind):
    """To rounding, in float32."""
    wanted, found = (
        Simulation(
            trees.scene(one, gravity=(0.0, 0.0, -9.81 * size)), settings=SolverSettings(precision="float32")
        ).record(20)
        for one, size in ((trees.chain(2, kind), 1.0), (scaled(trees.chain(2, kind), *scale), scale[0]))
    )
    np.testing.assert_allclose(found.joint_position, wanted.joint_position, rtol=0, atol=2e-5)


def test_slides_of_any_size():
    """Inertias do not matter where nothing turns; masses do."""
    slides = trees.chain(2, "prismatic_z")
    assert not list(inertias_out_of_range(scaled(slides, 1e-12, 1.0), "float32"))
    (name, text), *_ = inertias_out_of_range(scaled(slides, 1.0, 1e25), "float32")
    assert name == slides.dofs[0].name and " kg, must be" in text


def test_free_bodies():
    """A light one moves as any other; one that is too heavy is named by its link."""
    assert not list(inertias_out_of_range(scaled(trees.free_body(), 1.0, 1e-30), "float32"))
    ((name, text),) = inertias_out_of_range(scaled(trees.free_body(), 1.0, 1e30), "float32")
    assert name == trees.free_body().links[0].path and "2e+30 kg or kg m^2" in text


def test_a_check_warns():
    """A stage can be stepped in float64, so that it is no error."""
    stage = open_text(body("a", mass="float physics:mass = 1e25"))
    (found,) = [one for one in inspect_stage(stage).diagnostics if one.rule == "inertia-range"]
    assert (found.severity.name, found.path) == ("WARNING", "/a")


def test_a_mass_is_shown_as_authored():
    """Numbers from 1e30 on stand for infinity, but are not said to be infinite."""
    (error,) = errors_of(open_text(body("a", mass="float physics:mass = 1e30")))
    assert error == "/a.physics:mass: is 1e+30, must be below 1e+30 in magnitude"
