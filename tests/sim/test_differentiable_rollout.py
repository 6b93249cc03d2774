"""Rollouts of torch and JAX: gradients by both against central differences, and motions against ordinary runs."""

import subprocess
import sys

import numpy as np
import pytest

import warp_artic as wa
from tests import trees
from tests.forests import renamed
from tests.sim.test_tangent import FAMILIES
from warp_artic import SettingsError, Simulation, SolveError, SolverSettings

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

SETTINGS = SolverSettings(precision="float64")
ARM = "samples/scenes/arm.usda"
STEPS = 6


@pytest.fixture(autouse=True)
def double_precision():
    """JAX has arrays of float64 here."""
    with jax.enable_x64(True):
        yield


def pendulums() -> Simulation:
    """A hinge, in two environments."""
    tree = trees.with_dofs(trees.point_pendulums((2.0,), (0.7,)), position=0.6)
    return Simulation(trees.scene(tree), environments=2, settings=SETTINGS)


def arm() -> Simulation:
    """Six drives with limits, in two environments."""
    return Simulation(wa.read_stage(ARM), environments=2, settings=SETTINGS)


def balls() -> Simulation:
    """A floating tree with joints of one, two and three rotations, in two environments."""
    tree = trees.random_articulation(4, 5, floating=True, kinds=("spherical", "swing", "revolute_x"))
    tree = trees.authored_at(tree, trees.random_state(4, tree))
    return Simulation(trees.scene(tree), environments=2, settings=SETTINGS)


def start_of(simulation: Simulation, *names) -> dict[str, np.ndarray]:
    """Parts of the state, environments first, moved a little from environment to environment."""
    rng = np.random.default_rng(0)
    parts = {name: np.moveaxis(getattr(simulation.state, name).numpy(), -1, 0).copy() for name in names}
    return {name: part + 0.1 * rng.normal(size=part.shape) for name, part in parts.items()}


def case_of(name: str):
    """A simulation, and arrays of each argument: all environments alike, and each with its own."""
    rng = np.random.default_rng(1)
    if name == "pendulum":
        simulation = pendulums()
        start = start_of(simulation, "joint_position", "joint_velocity")
        efforts = rng.normal(size=(STEPS, 1))
        return simulation, {"joint_effort": efforts}, start, {"link_mass": np.array([1.5])}
    if name == "arm":
        simulation = arm()
        targets = 0.3 * rng.normal(size=(STEPS, 2, 6))
        parameters = {"drive_stiffness": rng.uniform(100.0, 200.0, size=6)}
        return simulation, {"drive_position_target": targets}, start_of(simulation, "joint_velocity"), parameters
    simulation = balls()
    start = start_of(simulation, "joint_position", "joint_velocity", "root_pose", "root_velocity")
    return simulation, {}, start, {}


CASES = pytest.mark.parametrize("name", ["pendulum", "arm", "balls"])


def weighted(motion, count: int, times):
    """A few sums of all numbers of a motion with weights of their own, for tensors and arrays."""
    rng = np.random.default_rng(2)
    return [sum(times(part, rng.normal(size=tuple(part.shape))) for part in motion) for _ in range(count)]


def flat(*arguments: dict) -> tuple[list[tuple[int, str]], list[np.ndarray]]:
    """Which argument and name each array is of, and the arrays."""
    keys = [(place, name) for place, arrays in enumerate(arguments) for name in arrays]
    return keys, [arguments[place][name] for place, name in keys]


def back(keys, values) -> list[dict]:
    """Arguments of arrays that follow each other."""
    found = [{}, {}, {}]
    for (place, name), value in zip(keys, values):
        found[place][name] = value
    return found


def moved(rollout, simulation, keys, values, **options):
    """The motion of a rollout of one of the libraries."""
    controls, start, parameters = back(keys, values)
    return rollout(simulation, controls, steps=STEPS, start=start, parameters=parameters, **options)


@CASES
@pytest.mark.parametrize("every", [1, 4])
def test_torch_checks_gradients(name, every):
    """By `gradcheck`, of start, controls and parameters, of any length of quaternions, with records left out."""
    simulation, *arguments = case_of(name)
    keys, arrays = flat(*arguments)
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]

    def sums(*tensors):
        motion = moved(wa.torch.rollout, simulation, keys, tensors, every=every)
        return tuple(weighted(motion, 2, lambda part, weight: (part * torch.from_numpy(weight)).sum()))

    assert torch.autograd.gradcheck(sums, tensors, eps=1e-6, atol=1e-6, rtol=1e-6)


@CASES
def test_jax_checks_gradients(name):
    """By `check_grads`, backward."""
    from jax.test_util import check_grads

    simulation, *arguments = case_of(name)
    keys, arrays = flat(*arguments)

    def sums(*arrays):
        motion = moved(wa.jax.rollout, simulation, keys, arrays)
        return weighted(motion, 1, lambda part, weight: (part * weight).sum())

    check_grads(sums, [jax.numpy.asarray(array) for array in arrays], 1, ["rev"], atol=1e-6, rtol=1e-6, eps=1e-6)


@CASES
def test_both_have_one_gradient_and_leave_the_simulation(name):
    """Bitwise the same motion and gradient, and all of the state, the control and the parameters as they were."""
    simulation, *arguments = case_of(name)
    simulation.step(2)
    before = simulation.snapshot()
    keys, arrays = flat(*arguments)
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    motion = moved(wa.torch.rollout, simulation, keys, tensors)
    simulation.control.joint_effort = 3.0  # what is changed later does not count
    sum(part.square().sum() for part in motion).backward()
    assert (simulation.control.joint_effort.numpy() == 3.0).all() and simulation.steps_done == 2
    simulation.apply(before)

    def loss(arrays):
        return sum((part**2).sum() for part in moved(wa.jax.rollout, simulation, keys, arrays))

    found = jax.jit(jax.grad(loss))([jax.numpy.asarray(array) for array in arrays])
    for one, tensor in zip(found, tensors):
        np.testing.assert_array_equal(one, tensor.grad)
    after = simulation.snapshot()
    np.testing.assert_array_equal(after.table.numpy(), before.table.numpy())


def test_gradients_are_those_of_the_simulation():
    """Of `Simulation.gradient` from the same start, where joints have one axis."""
    simulation, controls, start, parameters = case_of("arm")
    keys, arrays = flat(controls, start, parameters)
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    moved(wa.torch.rollout, simulation, keys, tensors).joint_position.sum().backward()
    simulation.set_values("drive_stiffness", parameters["drive_stiffness"])
    simulation.reset()
    simulation.set_state(**start)

    def loss(motion):
        return motion.joint_position.sum(), {"joint_position": np.ones_like(motion.joint_position)}

    _, found = simulation.gradient(loss, STEPS, [name for _, name in keys], controls)
    found["drive_stiffness"] = found["drive_stiffness"].sum(axis=0)
    for (_, name), tensor in zip(keys, tensors):
        np.testing.assert_array_equal(tensor.grad, found[name])


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("environments", [3, 40])
def test_motions_are_those_of_ordinary_rollouts(precision, environments):
    """Bitwise, in both precisions, of scalars and of lanes, with each number of the start in its place."""
    settings = SolverSettings(precision=precision)
    tree = trees.with_dofs(trees.chain(3, floating=True), **FAMILIES["drive"])
    simulation = Simulation(trees.scene(tree), environments=environments, settings=settings)
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(5, environments, 2)).astype(precision)
    mass = rng.uniform(1.0, 2.0, size=(environments, len(simulation.link_names))).astype(precision)
    velocity = rng.normal(size=(environments, 2)).astype(precision)
    given = {"drive_position_target": targets}, {"joint_velocity": velocity}, {"link_mass": mass}
    wanted = wa.rollout(simulation, given[0], start=given[1], parameters=given[2])
    as_tensors = [{name: torch.tensor(array) for name, array in part.items()} for part in given]
    for found in (
        wa.torch.rollout(simulation, as_tensors[0], start=as_tensors[1], parameters=as_tensors[2]),
        wa.jax.rollout(simulation, given[0], start=given[1], parameters=given[2]),
    ):
        assert found.root_pose.shape == (6, environments, 1, 7) and str(found.root_pose.dtype).endswith(precision)
        np.testing.assert_array_equal(found.joint_position, wanted.joint_position)
        np.testing.assert_array_equal(found.joint_velocity, wanted.joint_velocity)


def test_roots_with_centres_of_mass_of_their_own():
    """Of floating roots whose frames are not alike in all environments, in two mechanisms of one group."""
    pair = (renamed(trees.chain(2, floating=True), name) for name in ("one", "two"))
    simulation = Simulation(trees.scene(*pair), environments=2, settings=SETTINGS)
    rng = np.random.default_rng(5)
    simulation.set_mass_properties(center_of_mass=0.2 * rng.normal(size=(2, len(simulation.link_names), 3)))
    simulation.step(2)
    pose = np.moveaxis(simulation.state.root_pose.numpy(), -1, 0) + 0.1 * rng.normal(size=(2, 2, 7))

    def sums(pose):
        motion = wa.torch.rollout(simulation, steps=4, start={"root_pose": pose})
        return tuple(weighted(motion, 2, lambda part, weight: (part * torch.from_numpy(weight)).sum()))

    assert torch.autograd.gradcheck(sums, (torch.tensor(pose, requires_grad=True),), atol=1e-6, rtol=1e-6)


REFUSED = [
    ({"start": {"joint_velocty": np.zeros(6)}}, "start: 'joint_velocty' is not one of .* did you mean joint_velocity"),
    ({"controls": {"joint_efort": np.zeros((5, 6))}}, "did you mean joint_effort"),
    ({"parameters": {"link_mas": np.zeros(7)}}, "parameters: 'link_mas' is not one of .* did you mean link_mass"),
    ({"start": {"joint_velocity": np.zeros((3, 6))}}, r"joint_velocity: shape \(3, 6\) is not \(2, 6\)"),
    ({"controls": {"joint_effort": np.zeros((5, 4))}}, r"joint_effort: shape .* is not \(5, 2, 6\)"),
    ({"parameters": {"link_mass": np.zeros(4)}}, r"link_mass: shape \(4,\) is not"),
    ({"start": {"joint_velocity": np.zeros(6, np.float16)}}, "start: joint_velocity: float16 is not float64"),
    ({"start": {"joint_velocity": np.zeros(6)}, "steps": 0}, "steps: 0 is not an integer of at least 1"),
    ({"start": {"joint_velocity": np.zeros(6)}, "steps": None}, "steps: is needed"),
    ({"start": ["joint_velocity"]}, "start: a list is no mapping of names to arrays"),
]


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_what_cannot_be_is_named(library, arguments, sentence):
    """Before any step: names, shapes, types and counts."""
    made = {
        key: {name: torch.tensor(one) if library == "torch" else jax.numpy.asarray(one) for name, one in value.items()}
        if isinstance(value, dict)
        else value
        for key, value in {"steps": None if "controls" in arguments else 5, **arguments}.items()
    }
    with pytest.raises(SettingsError, match=sentence):
        getattr(wa, library).rollout(arm(), made.pop("controls", None), **made)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_numpy_have_the_precision_too(library):
    """Lists of numbers get it; others are refused, and so is what JAX would make of float64."""
    rollout = getattr(wa, library).rollout
    given = rollout(pendulums(), steps=2, start={"joint_velocity": np.ones(1)})
    listed = rollout(pendulums(), steps=2, start={"joint_velocity": [1.0]})
    np.testing.assert_array_equal(given.joint_position, listed.joint_position)
    with pytest.raises(SettingsError, match="joint_velocity: float32 is not float64"):
        rollout(pendulums(), steps=2, start={"joint_velocity": np.ones(1, np.float32)})
    if library == "jax":
        with jax.enable_x64(False), pytest.raises(SettingsError, match="the simulation has float64, which JAX has aft"):
            rollout(pendulums(), steps=2)


def test_jax_maps_rollouts():
    """One after the other, with the gradients of each alone."""

    def end(velocity):
        return wa.jax.rollout(pendulums(), steps=3, start={"joint_velocity": velocity}).joint_position[-1].sum()

    velocities = jax.numpy.array([[0.5], [1.5]])
    found = jax.vmap(jax.grad(end))(velocities)
    np.testing.assert_array_equal(found, [jax.grad(end)(velocity) for velocity in velocities])


def test_what_is_not_differentiated_is_refused():
    """When it is called, not when gradients are asked for."""
    simulation = Simulation(wa.read_stage("samples/scenes/pile.usda"), settings=SETTINGS)
    with pytest.raises(
        SolveError, match="rollout: steps are not differentiated yet where there is contacts between many mechanisms"
    ):
        wa.torch.rollout(simulation, steps=2)


@pytest.mark.parametrize(("name", "library"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_without_the_library_a_sentence_says_what_to_install(name, library):
    """And the rest of the package works without it."""
    code = f"import sys; sys.modules[{name!r}] = None; import warp_artic as wa; wa.Simulation; wa.{name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f'SettingsError: wa.{name} needs {library}: pip install "warp-artic[{name}]"' in done.stderr
    code = "import sys, warp_artic as wa; wa.Simulation, wa.rollout; assert not {'torch', 'jax'} & set(sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
