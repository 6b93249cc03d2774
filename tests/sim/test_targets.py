"""Drive targets that follow values over time."""

import dataclasses

import numpy as np
import pytest

from tests import trees
from warp_artic import SettingsError, Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.tendon import FixedTendon
from warp_artic.description.track import Track

H = 1 / 240
TRACK = Track(times=(0.0, 0.5, 1.0), values=(0.0, 0.4, 0.1))
KEY = ("drive_position_target", "/World/slide")


def simulate(**drive):
    """A slide without weight on a drive, at rest at zero, in three environments."""
    link = Link(path="/World/slider", mass=1.0, inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    dof = Dof(name="/World/slide", axis=Axis.TRANS_X, drive=Drive(**drive))
    joint = Joint(path="/World/slide", parent=WORLD, child=0, dofs=(dof,))
    tree = Articulation(path="/World", links=(link,), joints=(joint,))
    scene = trees.scene(tree, gravity=(0.0, 0.0, 0.0))
    return Simulation(scene, environments=3, settings=SolverSettings(dt=H, precision="float64", variant="scalar"))


def test_a_stiff_drive_follows_within_half_a_step():
    """Its target moves by 0.8 m/s at most. However steps are asked for, they are the same."""
    simulation = simulate(stiffness=1e9, position_track=TRACK)
    recording = simulation.record(steps=300)
    wanted = np.array([TRACK.at(time) for time in recording.time])
    np.testing.assert_allclose(recording.joint_position[:, :, 0] - wanted[:, None], 0.0, atol=0.5 * H * 0.8 + 1e-6)
    again = simulate(stiffness=1e9, position_track=TRACK)
    again.step(100)
    again.step(200)
    assert (again.state.joint_position.numpy() == simulation.state.joint_position.numpy()).all()


def test_it_is_the_run_with_the_same_targets_by_hand():
    simulation = simulate(
        stiffness=40.0, damping=3.0, position_track=TRACK, velocity_track=Track(times=(0.0, 1.0), values=(0.0, 1.0))
    )
    by_hand = simulate(stiffness=40.0, damping=3.0)
    simulation.step(120)
    for k in range(120):
        by_hand.control.drive_position_target.fill_(TRACK.at((k + 1) * H))
        by_hand.control.drive_velocity_target.fill_((k + 1) * H)
        by_hand.step()
    assert (by_hand.state.joint_position.numpy() == simulation.state.joint_position.numpy()).all()


@pytest.mark.parametrize("name", ["stiffness", "damping"])
def test_gains_over_time_are_the_run_with_the_same_gains_by_hand(name):
    """A drive that is off at the start comes in as its gain rises."""
    gain = Track(times=(0.1, 0.4), values=(0.0, 60.0))
    fixed = {"stiffness": 0.0, "damping": 2.0, "velocity_target": 1.0, "position_target": 0.3} | {name: 0.0}
    simulation = simulate(**fixed, **{f"{name}_track": gain})
    by_hand = simulate(**fixed | {name: 1.0})
    simulation.step(120)
    for k in range(120):
        getattr(by_hand.parameters, f"drive_{name}").fill_(gain.at((k + 1) * H))
        by_hand.step()
    assert (by_hand.state.joint_position.numpy() == simulation.state.joint_position.numpy()).all()
    assert abs(simulation.state.joint_position.numpy()).min() > 0.01


def test_tracks_are_taken_out_and_put_in():
    simulation = simulate(stiffness=40.0, damping=3.0, position_track=TRACK)
    del simulation.target_tracks[KEY]
    simulation.step(10)
    assert not simulation.state.joint_position.numpy().any()
    simulation.target_tracks[KEY] = Track(times=(0.0,), values=(2.0,))
    simulation.step(1)
    assert (simulation.control.drive_position_target.numpy() == 2.0).all()


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("joint_effort", "/World/slide"), "follows no track"),
        (("drive_position_target", "/World/lid"), "no row of '/World/lid'; it has those of /World/slide"),
    ],
)
def test_keys_that_are_not_there(key, text):
    simulation = simulate()
    simulation.target_tracks[key] = TRACK
    with pytest.raises(SettingsError, match=text):
        simulation.step()


def test_a_resumed_run_goes_on_along_the_track(tmp_path):
    simulation = simulate(stiffness=40.0, damping=3.0, position_track=TRACK)
    simulation.step(50)
    simulation.save(tmp_path / "run.npz")
    simulation.step(50)
    again = simulate(stiffness=40.0, damping=3.0, position_track=TRACK)
    again.load(tmp_path / "run.npz")
    again.step(50)
    assert (again.state.joint_position.numpy() == simulation.state.joint_position.numpy()).all()


def test_another_track_is_another_model():
    other = dataclasses.replace(TRACK, values=(0.0, 0.4, 0.2))
    assert simulate(position_track=TRACK).model_hash != simulate(position_track=other).model_hash


def hung(rest_length_track=None, offset_track=None, gravity_tracks=None):
    """A slide on a fixed tendon, and a ball on a spatial one, with gravity."""
    slider = Link(path="/World/slider", mass=1.0, inertia=(0.1, 0.0, 0.0, 0.1, 0.0, 0.1))
    dof = Dof(name="/World/slide", axis=Axis.TRANS_X)
    joint = Joint(path="/World/slide", parent=WORLD, child=0, dofs=(dof,))
    tendon = FixedTendon(
        name="/World/cord",
        dofs=(0,),
        coefficients=(1.0,),
        force_coefficients=(1.0,),
        stiffness=50.0,
        damping=1.0,
        rest_length_track=rest_length_track,
        offset_track=offset_track,
    )
    tree = Articulation(path="/World", links=(slider,), joints=(joint,), fixed_tendons=(tendon,))
    scene = dataclasses.replace(trees.scene(tree), gravity_tracks=gravity_tracks)
    return Simulation(scene, environments=2, settings=SolverSettings(dt=H, precision="float64", variant="scalar"))


@pytest.mark.parametrize(("field", "name"), [("rest_length", "tendon_rest_length"), ("offset", "tendon_offset")])
def test_tendons_follow(field, name):
    """As in a run in which the same numbers are written before each step."""
    simulation, by_hand = hung(**{f"{field}_track": TRACK}), hung()
    simulation.step(120)
    for k in range(120):
        getattr(by_hand.parameters, name).fill_(TRACK.at((k + 1) * H))
        by_hand.step()
    positions = [one.state.joint_position.numpy() for one in (simulation, by_hand)]
    assert (positions[0] == positions[1]).all() and np.abs(positions[0]).min() > 0.01
    simulation.reset()
    assert (getattr(simulation.parameters, name).numpy() == TRACK.at(0.0)).all()


def test_gravity_follows():
    """A slide without tension along X gathers the integral of gravity there."""
    tracks = (
        Track(times=(0.0, 1.0), values=(0.0, 6.0)),
        Track(times=(0.0,), values=(0.0,)),
        Track(times=(0.0,), values=(-9.81,)),
    )
    simulation = hung(gravity_tracks=tracks)
    simulation.set_values("tendon_stiffness", 0.0)
    simulation.set_values("tendon_damping", 0.0)
    simulation.step(240)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), 3.0 * (1 + H), rtol=1e-9)
    assert [float(value) for value in simulation.parameters.gravity.numpy()[0, :, 1]] == [6.0, 0.0, -9.81]


def test_what_follows_can_be_taken_out_and_put_in():
    """By the user, at any time, of any of the arrays; a sleeping mechanism wakes."""
    simulation = hung(rest_length_track=TRACK)
    assert list(simulation.target_tracks) == [("tendon_rest_length", "/World/cord")]
    simulation.step(24)
    held = simulation.parameters.tendon_rest_length.numpy().copy()
    simulation.target_tracks.clear()
    simulation.target_tracks["gravity", "x"] = Track(times=(0.0,), values=(1.5,))
    simulation.step(24)
    assert (simulation.parameters.tendon_rest_length.numpy() == held).all()
    assert (simulation.parameters.gravity.numpy()[:, 0] == 1.5).all()
