"""Samples of elastic bodies keep what they promise."""

import runpy
from dataclasses import replace

import numpy as np
import pytest

import warp_artic as wa
from tests.cli.sample_runs import SAMPLES, G, named, pose, recorded, short
from warp_artic.sim.record.recording import SHAPES


def _until(recording, record):
    """What `pose` looks at, ending with a record."""
    return {name: getattr(recording, name)[: record + 1] for name in ("time", *SHAPES)}


def test_beam_bends_into_an_arc():
    """Its axis turns in proportion to the way along it, by T e / (E I), e being 1 cm."""
    scene, recording = recorded("bent_beam", 3.0)
    (beam,) = scene.elastic_bodies
    axis = np.flatnonzero((beam.points[:, 1] == 0) & (np.arange(len(beam.points)) < 205))
    steps = np.diff(recording.mesh_points[-1, 0, axis][:, [0, 2]], axis=0)
    way = np.linalg.norm(steps, axis=1)
    way = (np.cumsum(way) - way / 2)[4:-4]
    heading = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))[4:-4]
    curvature, start = np.polyfit(way, heading, 1)
    assert np.ptp(heading) > 1.3
    assert np.abs(heading - curvature * way - start).max() < 0.005
    bending = beam.material.young_modulus * beam.thickness * np.ptp(beam.points[:, 1]) ** 3 / 12
    assert recording.mesh_tendon_tension[-1, 0, 0] == 24
    np.testing.assert_allclose(-curvature, 24 * 0.01 / bending, rtol=0.03)


def test_fingers_of_the_soft_gripper_close_alike():
    """Turned by 120 degrees, each is the one before; their tips meet around the middle, and cables pull the same."""
    scene, recording = recorded("soft_gripper", 1.5)
    fingers = recording.mesh_points[:, 0].reshape(len(recording.time), 3, -1, 3)
    cosine, sine = -0.5, np.sqrt(0.75)
    turn = np.array([[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]])
    for number in (1, 2):
        np.testing.assert_allclose(fingers[:, number - 1] @ turn, fingers[:, number], atol=1e-6)
    assert np.ptp(recording.mesh_tendon_tension, axis=-1).max() < 1e-3
    tips = np.linalg.norm(fingers[:, 0, -9:, :2].mean(axis=1), axis=1)
    assert tips[0] == pytest.approx(0.045, abs=1e-6) and tips[-1] < 0.02
    assert (recording.mesh_tendon_length[-1] < recording.mesh_tendon_length[0] - 0.01).all()


def test_starfish_makes_the_wanted_forces_as_it_moves():
    """On the tips of arms that swing by centimetres: to an eighth of the largest, in the mean to a twentieth."""
    pytest.importorskip("matplotlib")
    program = runpy.run_path(str(SAMPLES / "forces.py"))
    scene, recording = recorded("starfish", 4.0)
    assert len(scene.mesh_tendons) == 12
    time, nodes, wanted = program["wanted_forces"]()
    made = program["forces_of"](scene, recording)[np.searchsorted(recording.time, time - 1e-9)][:, nodes]
    largest = np.linalg.norm(wanted, axis=2).max()
    assert largest > 1.5 and np.ptp(recording.mesh_points[:, 0, nodes], axis=0).max() > 0.05
    error = np.linalg.norm(made - wanted, axis=2)
    assert error.max() < largest / 8
    assert np.sqrt(np.mean(error**2)) < largest / 20


def test_arm_carries_the_fingertip():
    """Attached nodes stay on the forearm, the tip curls, and in the end the elbow holds the weight of both."""
    scene = wa.read_stage(str(SAMPLES / "scenes" / "soft_fingertip.usda"))
    simulation = wa.Simulation(scene)
    recording = simulation.record(600, forces=True)
    (tip,) = scene.elastic_bodies
    forearm, points = named(scene.articulations[0].links, "forearm"), recording.mesh_points[:, 0]
    for record in (0, 120, 360, 600):
        origin, axes = pose(replace(recording, **_until(recording, record)), "forearm")
        held = origin + [axes @ one.position for one in tip.attachments]
        np.testing.assert_allclose(points[record, [one.node for one in tip.attachments]], held, atol=2e-6)
    edge = points[:, 76] - points[:, 67]
    turned = [np.degrees(np.arctan2(-one[2], one[0])) for one in (edge[240], edge[-1])]
    assert turned[1] - turned[0] > 40
    mass = simulation.elastic_bodies[0].node_mass
    origin, axes = pose(recording, "forearm")
    weight = forearm.mass * (axes @ forearm.center_of_mass)[0] + mass @ (points[-1, :, 0] - origin[0])
    assert mass.sum() > 0.1
    np.testing.assert_allclose(-recording.joint_drive_force[-1, 0, 1], 9.81 * weight, rtol=0.03)


def test_soft_blocks_touch_what_stays():
    """None enters it; the rough one holds on the ramp, the soapy one slides as a rigid one would, one falls off."""
    scene = wa.read_stage(str(SAMPLES / "scenes" / "soft_blocks.usda"))
    assert not [one for one in scene.diagnostics if one.severity is wa.Severity.WARNING]
    simulation = wa.Simulation(scene)
    recording = simulation.record(300)
    bodies = {short(body.path): body for body in simulation.elastic_bodies}
    assert all(body.unconverged.max() == 0 for body in bodies.values())
    nodes = np.array([short(path) for path in recording.mesh_nodes])
    points = {name: recording.mesh_points[:, 0, nodes == name] for name in bodies}
    falling = points["falling"]
    assert falling[..., 2].min() > -1e-6
    assert np.linalg.norm(falling - (0.1, -0.5, 0.1), axis=2).min() > 0.1 - 1e-6
    assert falling[-1, :, 2].max() < 0.2 < falling[0, :, 2].max()
    slope = np.radians(20)
    along, across = np.array([np.cos(slope), 0.0, -np.sin(slope)]), np.array([np.sin(slope), 0.0, np.cos(slope)])
    for name in ("stays", "slides"):
        assert ((points[name] - (0.0, 0.0, 0.36)) @ across).min() > 0.02 - 1e-6
    places = {name: (points[name] @ along) @ bodies[name].node_mass / bodies[name].node_mass.sum() for name in points}
    bottom = np.ptp(points["stays"][240:, :, :] @ along, axis=0)[bodies["stays"].contact_force.numpy()[0].any(axis=1)]
    assert bottom.max() < 2e-3
    speeds = np.diff(places["slides"]) * 240
    wanted = G * (np.sin(slope) - 0.2 * np.cos(slope))
    assert (speeds[250:290].mean() - speeds[140:180].mean()) * 240 / 110 == pytest.approx(wanted, rel=0.01)
