"""Vector environments of Gymnasium: episodes against a loop by hand, in each of the three modes of resets."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from tests.batch.plans import SCENES
from warp_artic.errors import SettingsError

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install '.[gymnasium]'")

STAGE = SCENES / "cart_pole.usda"
PIVOT, SLIDE = "/World/cart_pole/pivot", "/World/cart_pole/slide"
COUNT, LEAN = 24, 0.5
PLAN = wa.Plan(
    stage=str(STAGE),
    runs=1,
    steps=1,
    vary=[
        wa.Vary(start="joint_position", prims=PIVOT, distribution={"uniform": [-0.3, 0.3]}),
        wa.Vary(parameter="link_mass", operation="scale", draw="together", distribution={"uniform": [0.8, 1.2]}),
    ],
)


def observe(arrays):
    return np.concatenate([arrays.joint_position, arrays.joint_velocity], axis=1)


def task(**given):
    fields = {
        "observe": observe,
        "reward": lambda arrays, actions: 1.0 - 0.1 * actions[:, 0] ** 2,
        "terminated": lambda arrays: abs(arrays.joint_position[:, place(PIVOT)]) > LEAN,
        "action": "joint_effort",
        "joints": [SLIDE],
        "scale": 20.0,
        "decimation": 4,
        "time_limit": 0.6,
    }
    return wa.Task(**(fields | given))


def place(name):
    return wa.read_stage(STAGE).dof_names.index(name) if name not in PLACES else PLACES[name]


PLACES = {}
PLACES |= {name: place(name) for name in (PIVOT, SLIDE)}


def make(autoreset, **given):
    return wa.VectorEnv(STAGE, task(), COUNT, plan=PLAN, autoreset=autoreset, **given)


def by_hand(actions, seed):
    """The episodes of each copy, stepped alone by `wa.Simulation`: what is seen before and after each action."""
    from dataclasses import replace

    from warp_artic.batch.case import Cases

    case = Cases(replace(PLAN, runs=2**31 - 1, seed=seed)).of(())
    simulation = wa.Simulation(wa.read_stage(STAGE), settings=case.settings)
    columns = {column.name: k for k, column in enumerate(case.columns)}
    found = []
    for copy in range(COUNT):
        episode, age, seen, over = -1, 0, [], False
        for action in [None, *actions[:, copy]]:
            if action is None or over:
                episode, age = episode + 1, 0
                values = case.table(episode * COUNT + copy, episode * COUNT + copy + 1)[0]
                simulation.reset()
                position = simulation.state.joint_position.numpy()[:, 0].copy()
                position[PLACES[PIVOT]] = values[columns[f"joint_position:{PIVOT}"]]
                names = simulation.link_names
                simulation.set_values("link_mass", [values[columns[f"link_mass:{name}"]] for name in names])
                simulation.set_state(joint_position=position)
                start = state_of(simulation)
            if action is None:
                over = False
                seen.append((start, None, False, False))
                continue
            began = start if over else None
            effort = np.zeros(2)
            effort[PLACES[SLIDE]] = 20.0 * action[0]
            simulation.control.joint_effort = effort[:, None]
            simulation.step(4)
            age += 1
            now = state_of(simulation)
            terminated = bool(abs(now[PLACES[PIVOT]]) > LEAN)
            over = terminated or age >= 36
            seen.append((now, began, terminated, over and not terminated))
        found.append(seen)
    return found


def state_of(simulation):
    return np.concatenate(
        [simulation.state.joint_position.numpy()[:, 0], simulation.state.joint_velocity.numpy()[:, 0]]
    )


def test_same_step_shows_final_observations():
    """Observations, flags and final observations are those of episodes that are stepped one by one, bitwise."""
    actions = np.random.default_rng(0).uniform(-1, 1, (80, COUNT, 1)).astype(np.float32)
    env = make("same_step")
    seen, _ = env.reset(seed=5)
    hand = by_hand(actions, 5)
    ended = 0
    assert np.array_equal(seen, np.stack([own[0][0] for own in hand]))
    for step, action in enumerate(actions):
        seen, reward, terminated, truncated, info = env.step(action)
        assert np.allclose(reward, 1.0 - 0.1 * action[:, 0] ** 2)
        for copy in range(COUNT):
            now, _, is_terminated, is_truncated = hand[copy][step + 1]
            assert (terminated[copy], truncated[copy]) == (is_terminated, is_truncated)
            if is_terminated or is_truncated:
                ended += 1
                assert info["_final_obs"][copy]
                assert np.array_equal(info["final_obs"][copy], now)
            else:
                assert np.array_equal(seen[copy], now)
    assert ended > COUNT


def test_next_step_begins_an_episode_with_the_next_action():
    """Which then does nothing, and has no reward; what ended is what was seen last."""
    same, following = make("same_step"), make("next_step")
    rng = np.random.default_rng(1)
    one, _ = same.reset(seed=2)
    other, _ = following.reset(seed=2)
    assert np.array_equal(one, other)
    waits = np.zeros(COUNT, bool)
    for _ in range(60):
        actions = rng.uniform(-1, 1, (COUNT, 1)).astype(np.float32)
        seen, reward, terminated, truncated, _ = following.step(actions)
        assert (reward[waits] == 0.0).all() and not (terminated | truncated)[waits].any()
        waits = terminated | truncated
    assert following.metadata["autoreset_mode"].name == "NEXT_STEP"


def test_masked_resets_leave_the_others():
    """Bitwise as without them."""
    env, other = make("disabled"), make("disabled")
    env.reset(seed=3)
    other.reset(seed=3)
    actions = np.full((COUNT, 1), 0.3, np.float32)
    env.step(actions), other.step(actions)
    mask = np.arange(COUNT) % 3 == 0
    seen, _ = env.reset(options={"reset_mask": mask})
    unchanged, *_ = other.step(actions)
    stepped, *_ = env.step(actions)
    assert np.array_equal(stepped[~mask], unchanged[~mask])
    assert not np.array_equal(stepped[mask], unchanged[mask])
    assert (abs(seen[mask][:, PLACES[PIVOT]]) <= 0.3).all()
    with pytest.raises(SettingsError, match=r"reset_mask: has shape \(3,\)"):
        env.reset(options={"reset_mask": [True, False, True]})


def test_actions_of_another_shape_are_refused():
    """By the shape that they have and must have; lists of numbers are actions."""
    env = make("next_step")
    env.reset(seed=1)
    env.step([[0.1]] * COUNT)
    for wrong in (np.zeros(COUNT), np.zeros((COUNT, 2)), np.zeros((1, 1)), 0.0):
        with pytest.raises(SettingsError, match=rf"actions: have shape \(.*\), must be \({COUNT}, 1\)"):
            env.step(wrong)
    for wrong in (None, "left", [[0.1], [0.1, 0.2]]):
        with pytest.raises(SettingsError, match="actions: "):
            env.step(wrong)


def test_gymnasium_finds_nothing_wrong():
    """By the checks of its `env_checker` that are for observations, seeds and determinism."""
    from gymnasium.utils import env_checker

    env = make("next_step")
    env_checker.check_observation_space(env.single_observation_space)
    env_checker.check_action_space(env.single_action_space)
    env_checker.check_reset_seed_determinism(env)
    seen, _ = env.reset(seed=1)
    assert seen in env.observation_space
    seen, reward, terminated, truncated, _ = env.step(env.action_space.sample())
    assert seen in env.observation_space
    assert reward.shape == terminated.shape == truncated.shape == (COUNT,)
    kept = seen.copy()
    env.step(env.action_space.sample())
    assert np.array_equal(seen, kept)


def test_torch_and_jax_give_the_same():
    """As NumPy, bitwise."""
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    actions = np.random.default_rng(4).uniform(-1, 1, (20, COUNT, 1)).astype(np.float32)
    found = {}
    for kind, own in (("numpy", np), ("torch", torch), ("jax", jax.numpy)):

        def seen_by(arrays, own=own):
            return own.concatenate([arrays.joint_position, arrays.joint_velocity], axis=1)

        env = wa.VectorEnv(STAGE, task(observe=seen_by), COUNT, plan=PLAN, arrays=kind, autoreset="same_step")
        env.reset(seed=6)
        for action in actions:
            seen, *_ = env.step(torch.as_tensor(action) if kind == "torch" else action)
        assert type(seen).__module__.startswith({"numpy": "numpy", "torch": "torch", "jax": "jax"}[kind])
        found[kind] = np.asarray(seen)
    assert np.array_equal(found["numpy"], found["torch"])
    assert np.array_equal(found["numpy"], found["jax"])


def test_what_runs_away_is_over():
    """As terminated, and told."""
    env = make("disabled")
    env.reset(seed=1)
    env.arrays.joint_velocity[3] = np.inf
    _, _, terminated, _, info = env.step(np.zeros((COUNT, 1), np.float32))
    assert terminated[3] and info["failure"][3]
    env = make("next_step")
    env.reset(seed=1)
    env.arrays.joint_velocity[3] = np.inf
    told = [env.step(np.zeros((COUNT, 1), np.float32))[4] for _ in range(2)]
    assert told[0]["failure"][3] and not told[1]  # the second step puts it back


@pytest.mark.parametrize(
    "given, words",
    [
        ({"autoreset": "sometimes"}, "autoreset: 'sometimes' is not one of"),
        ({"arrays": "cupy"}, "is not one of numpy, torch, jax"),
        ({"task": task(action="joint_efort")}, "did you mean joint_effort?"),
        ({"task": task(joints=["/World/cart_pole/slid"])}, "did you mean /World/cart_pole/slide?"),
        ({"task": task(observe=lambda arrays: arrays.joint_position[:3])}, "observe: gives shape (3, 2)"),
    ],
)
def test_what_is_wrong_is_named(given, words):
    """When an environment is made."""
    with pytest.raises(SettingsError) as error:
        wa.VectorEnv(STAGE, **({"task": task(), "num_envs": 4} | given))
    assert words in str(error.value)


@pytest.mark.parametrize(
    "vary, words",
    [
        (wa.Vary(variant="/World{kind}", distribution={"choice": ["a"]}), "/World{kind} is a variant"),
        (wa.Vary(parameter="link_mass", distribution={"values": [1.0]}), "link_mass has values for some runs"),
        (wa.Vary(parameter="tendon_stiffness", distribution={"constant": 1.0}), "nothing on the stage has"),
    ],
)
def test_variables_that_episodes_cannot_draw_are_refused(vary, words):
    """A selection of variants, values of some runs, and what changes nothing."""
    with pytest.raises(SettingsError) as error:
        wa.VectorEnv(STAGE, task(), 4, plan=wa.Plan(stage=str(STAGE), runs=1, steps=1, vary=[vary]))
    assert words in str(error.value)


def test_settings_are_those_of_the_plan_where_no_others_are_given():
    """Its time step among them."""
    plan = wa.Plan(stage=str(STAGE), runs=1, steps=1, settings={"dt": "1/600", "precision": "float64"})
    assert wa.VectorEnv(STAGE, task(), 2, plan=plan).simulation.dt == pytest.approx(1 / 600)
    env = wa.VectorEnv(STAGE, task(), 2, plan=plan, settings=wa.SolverSettings(dt=1 / 120))
    assert env.simulation.dt == pytest.approx(1 / 120)
    assert env.simulation.settings.precision == "float32"


def test_the_sample_learns_to_balance(capsys):
    """In a few generations most policies keep the pole up."""
    sample = runpy.run_path(str(Path(STAGE).parents[1] / "learn_cart_pole.py"))
    curve = sample["learn"](generations=7)
    assert curve[0][0] < 1.5
    assert curve[-1][0] > 4.0
    assert len(capsys.readouterr().out.splitlines()) == 7


def test_time_samples_of_a_stage(caplog):
    """Actions come before those of the targets that they are written to; others begin anew with all copies."""
    steered = task(action="drive_position_target", joints=["/World/arm/elbow"], scale=1.0, terminated=never)
    env = wa.VectorEnv(SCENES / "soft_fingertip.usda", steered, 2, autoreset="disabled")
    assert [line.message for line in caplog.records if "time samples are followed" in line.message]
    elbow = env.simulation.joint_names.index("/World/arm/elbow")

    def episode(action):
        env.reset()
        seen = np.array([env.step(np.full((2, 1), action, np.float32))[0] for _ in range(5)])
        assert env.arrays.drive_position_target[:, elbow] == pytest.approx(action)
        return seen

    first, other, again = (episode(action) for action in (0.3, -0.3, 0.3))
    assert np.array_equal(first, again) and np.abs(first - other).max() > 1e-3


def never(arrays):
    """No episode ends."""
    return np.zeros(len(arrays.joint_position), bool)
