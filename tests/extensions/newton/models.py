"""Models of Newton for tests, and how they are stepped."""

from pathlib import Path

import newton
import newton.examples
import numpy as np
import warp as wp

DT = 1.0 / 240.0
STAGES = Path(__file__).parents[2] / "data" / "oracle" / "stages"
ASSETS = Path(newton.examples.__file__).parent / "assets"


def stage_model(name: str) -> newton.Model:
    """One of our stages, with start states as PhysX authors them."""
    builder = newton.ModelBuilder()
    resolvers = [newton.usd.SchemaResolverNewton(), newton.usd.SchemaResolverPhysx()]
    builder.add_usd(str(STAGES / f"{name}.usda"), schema_resolvers=resolvers)
    return builder.finalize()


def asset(name: str) -> newton.ModelBuilder:
    """One of the robots in the package of Newton."""
    builder = newton.ModelBuilder()
    add = {".xml": builder.add_mjcf, ".urdf": builder.add_urdf}.get(Path(name).suffix, builder.add_usd)
    add(str(ASSETS / name))
    return builder


def chain(**settings) -> newton.ModelBuilder:
    """Two hinges in a row on the world, with settings for both."""
    builder = newton.ModelBuilder()
    builder.default_joint_cfg.limit_ke = 0.0
    builder.default_joint_cfg.limit_kd = 0.0
    links = [link(builder, f"link{k}", com=(0.0, 0.0, -0.25)) for k in range(2)]
    joints = [
        builder.add_joint_revolute(
            parent=parent,
            child=child,
            axis=(0.0, 1.0, 0.0),
            parent_xform=wp.transform((0.0, 0.0, 0.0 if parent < 0 else -0.5), wp.quat_identity()),
            label=f"hinge{child}",
            **settings,
        )
        for parent, child in ((-1, links[0]), (links[0], links[1]))
    ]
    builder.add_articulation(joints, label="chain")
    builder.joint_q[:] = [0.6, -0.3]
    return builder


def link(builder: newton.ModelBuilder, label: str, mass: float = 1.0, com=(0.0, 0.0, 0.0)) -> int:
    """A body without a shape."""
    inertia = wp.mat33(0.02, 0.001, 0.0, 0.001, 0.03, 0.002, 0.0, 0.002, 0.025)
    return builder.add_link(mass=mass, inertia=inertia, com=wp.vec3(*com), label=label)


def zoo() -> newton.ModelBuilder:
    """Every kind of joint with frames and axes at an angle: free, ball, revolute, prismatic, and several D6."""
    builder = newton.ModelBuilder()
    axis, rng = newton.ModelBuilder.JointDofConfig.create_unlimited, np.random.default_rng(3)

    def frame():
        turn = wp.normalize(wp.quat(*map(float, rng.normal(size=4))))
        return wp.transform(wp.vec3(*map(float, rng.normal(size=3) * 0.2)), turn)

    def frames():
        return {"parent_xform": frame(), "child_xform": frame()}

    def body():
        return link(builder, f"body{builder.body_count}", 1.0 + rng.random(), rng.normal(size=3) * 0.05)

    root, ball, skew, slide, universal, carrier, gimbal = (body() for _ in range(7))
    joints = [
        builder.add_joint_free(child=root, **frames()),
        builder.add_joint_ball(parent=root, child=ball, **frames()),
        builder.add_joint_revolute(parent=ball, child=skew, axis=(0.6, 0.0, 0.8), **frames()),
        builder.add_joint_prismatic(parent=root, child=slide, axis=(0.0, 0.8, -0.6), **frames()),
        builder.add_joint_d6(
            parent=slide, child=universal, angular_axes=[axis((1, 0, 0)), axis((0, 0, 1))], **frames()
        ),
        builder.add_joint_d6(
            parent=root, child=carrier, linear_axes=[axis((1, 0, 0)), axis((0, 0.6, 0.8))],
            angular_axes=[axis((0, 1, 0))], **frames()
        ),
        builder.add_joint_d6(
            parent=carrier, child=gimbal, angular_axes=[axis((0, 0, 1)), axis((1, 0, 0)), axis((0, 1, 0))], **frames()
        ),
    ]  # fmt: skip
    builder.add_articulation(joints, label="zoo")
    for coordinate in range(7, builder.joint_coord_count):
        builder.joint_q[coordinate] = float(0.4 * rng.normal())
    builder.joint_q[3:7] = unit(rng)
    builder.joint_q[7:11] = unit(rng)
    builder.joint_qd[:] = list(map(float, rng.normal(size=builder.joint_dof_count)))
    return builder


def unit(rng) -> list[float]:
    """A quaternion."""
    quaternion = rng.normal(size=4)
    return list(map(float, quaternion / np.linalg.norm(quaternion)))


def start(model: newton.Model) -> newton.State:
    """The start state, with bodies where the joints have them."""
    state = model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    return state


def run(solver, steps: int, state: newton.State | None = None, control=None, dt: float = DT) -> newton.State:
    """The state after some steps, from the start or from a state, which stays as it is."""
    model = solver.model
    before, after = model.state(), model.state()
    before.assign(state if state is not None else start(model))
    for _ in range(steps):
        solver.step(before, after, control, None, dt)
        before, after = after, before
    return before
