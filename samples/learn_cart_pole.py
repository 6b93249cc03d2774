"""Learn to balance the pole of the cart-pole, by cross-entropy on a linear policy, in under a minute.

    python samples/learn_cart_pole.py            prints how long the pole stands, generation by generation
    python samples/learn_cart_pole.py curve.png  draws it as well

Needs warp-artic[gymnasium], and Matplotlib for the picture. Each of 1,024 environments has a policy of its own: 128
policies, each from eight starts. The best 16 say from where the next ones are drawn.
"""

import sys
from pathlib import Path

import numpy as np

import warp_artic as wa

STAGE = Path(__file__).parent / "scenes" / "cart_pole.usda"
PIVOT, SLIDE = "/World/cart_pole/pivot", "/World/cart_pole/slide"
POLICIES, EPISODES, KEPT, GENERATIONS = 128, 8, 16, 14
LIMIT = 5.0
"""Length of an episode [s]."""


def observe(arrays):
    """Place and speed of the cart, angle and speed of the pole: in the order of the dofs."""
    return np.concatenate([arrays.joint_position, arrays.joint_velocity], axis=1)


def environment(count: int) -> wa.VectorEnv:
    """Cart-poles that begin within 0.15 rad of upright."""
    task = wa.Task(
        observe=observe,
        reward=lambda arrays, actions: np.ones(len(arrays.joint_position)),
        terminated=lambda arrays: (
            (np.abs(arrays.joint_position[:, ORDER[0]]) > 0.4) | (np.abs(arrays.joint_position[:, ORDER[1]]) > 0.55)
        ),
        action="joint_effort",
        joints=[SLIDE],
        scale=60.0,
        decimation=4,
        time_limit=LIMIT,
    )
    starts = [
        wa.Vary(start="joint_position", prims=PIVOT, distribution={"uniform": [-0.15, 0.15]}, name="lean"),
        wa.Vary(start="joint_position", prims=SLIDE, distribution={"uniform": [-0.1, 0.1]}, name="place"),
    ]
    plan = wa.Plan(stage=str(STAGE), runs=1, steps=1, vary=starts)
    return wa.VectorEnv(STAGE, task, count, plan=plan, autoreset="disabled")


ORDER = [wa.read_stage(STAGE).dof_names.index(name) for name in (PIVOT, SLIDE)]
"""The places of pivot and slide among the dofs."""


def time_upright(env: wa.VectorEnv, policies: np.ndarray, seed: int) -> np.ndarray:
    """How long the pole stands under each of E linear policies (E, 4) [s]."""
    seen, _ = env.reset(seed=seed)
    stands, steps = np.ones(len(policies), bool), np.zeros(len(policies))
    while stands.any():
        seen, _, terminated, truncated, _ = env.step(np.einsum("ed,ed->e", policies, seen)[:, None])
        steps += stands
        stands &= ~(terminated | truncated)
    return steps * env.task.decimation * env.simulation.dt


def learn(generations: int = GENERATIONS) -> list[tuple[float, float]]:
    """Mean and best time upright of each generation [s]."""
    env, rng = environment(POLICIES * EPISODES), np.random.default_rng(0)
    mean, deviation, curve = np.zeros(4), np.full(4, 3.0), []
    for generation in range(generations):
        drawn = rng.normal(mean, deviation, (POLICIES, 4))
        times = (
            time_upright(env, np.repeat(drawn, EPISODES, axis=0), generation).reshape(POLICIES, EPISODES).mean(axis=1)
        )
        best = drawn[np.argsort(times)[-KEPT:]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.05
        curve.append((float(times.mean()), float(times.max())))
        print(f"generation {generation:2d}: mean {times.mean():.2f} s, best {times.max():.2f} s of {LIMIT:g} s")
    return curve


def draw(curve: list[tuple[float, float]], path: str) -> None:
    """Draw mean and best over generations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 3.2), layout="constrained")
    axes = figure.subplots()
    for values, name in zip(np.array(curve).T, ("mean of 128 policies", "best policy")):
        axes.plot(values, marker="o", markersize=3, label=name)
    axes.set(xlabel="generation", ylabel="time upright [s]", ylim=(0.0, 1.05 * LIMIT))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)


if __name__ == "__main__":
    found = learn()
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])
