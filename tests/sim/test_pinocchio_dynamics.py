"""The dynamics suite on random trees against the algorithms of Pinocchio, several states at a time."""

import numpy as np
import pinocchio as pin
import pytest

from tests.oracles import pinocchio_model as ours
from tests.phases.test_dynamics import COUNTS, random_case, simulate
from tests.sim.test_dynamics import CASES, TOLERANCES, close
from warp_artic.description.joint import WORLD


class Reference:
    """What Pinocchio says at one state, in our velocities:  v_pin = T v,  a_pin = T vdot + b."""

    def __init__(self, model, state):
        self.model, self.state, self.pin = model, state, model.model
        self.q, self.data = ours.configuration(model, state), model.model.createData()
        self.T, self.b = ours.velocity_map(model, state), ours.velocity_map_bias(model, state)
        self.v = self.T @ ours.generalized_velocity(state)
        self.still = np.zeros(self.pin.nv)

    def gravity(self):
        return self.T.T @ pin.computeGeneralizedGravity(self.pin, self.data, self.q)

    def coriolis(self):
        """By the matrix of Coriolis forces, and what the change of T adds."""
        C = pin.computeCoriolisMatrix(self.pin, self.data, self.q, self.v)
        weightless = pin.rnea(self.pin, self.data, self.q, self.still, self.b)
        weightless = weightless - pin.rnea(self.pin, self.data, self.q, self.still, self.still)
        return self.T.T @ (C @ self.v + weightless)

    def inverse_dynamics(self, vdot):
        """rnea, with armature that it does not know of, and with weights."""
        armature = ours.projected_armature(self.model) * vdot
        return self.T.T @ pin.rnea(self.pin, self.data, self.q, self.v, self.T @ vdot + self.b) + armature

    def inverse_mass_matrix(self):
        """By computeMinverse, or of the projected mass matrix where a joint has two dofs."""
        if self.T.shape[0] != self.T.shape[1]:
            return np.linalg.inv(ours.mass_matrix(self.model, self.state))
        upper = np.triu(pin.computeMinverse(self.pin, self.data, self.q))
        back = np.linalg.inv(self.T)
        return back @ (upper + np.triu(upper, 1).T) @ back.T

    def jacobian(self):
        """Frame Jacobians at the centres of mass, without links that are welded to the world."""
        tree, rows = self.model.articulation, []
        pin.computeJointJacobians(self.pin, self.data, self.q)
        pin.updateFramePlacements(self.pin, self.data)
        for link, joint in enumerate(tree.inbound):
            if not (joint and joint.parent == WORLD and not joint.dofs):
                frame = self.pin.getFrameId(f"center {link}")
                J = pin.getFrameJacobian(self.pin, self.data, frame, pin.LOCAL_WORLD_ALIGNED)
                rows.append(J.reshape(6, -1) @ self.T)
        return np.concatenate([*rows, np.zeros((0, self.T.shape[1]))])

    def centroidal_map(self, center):
        """About a centre of mass that includes links which are welded to the world: Pinocchio leaves these out."""
        A = pin.computeCentroidalMap(self.pin, self.data, self.q).reshape(6, -1) @ self.T
        own = pin.centerOfMass(self.pin, self.data, self.q)
        A[3:] += pin.skew(own - center) @ A[:3]
        return A


def with_centers(model):
    """A frame at the centre of mass of each link."""
    for link, body in enumerate(model.articulation.links):
        place = model.X_ML[link] * pin.SE3(np.eye(3), np.array(body.center_of_mass))
        model.model.addFrame(pin.Frame(f"center {link}", model.joint_of_link[link], place, pin.OP_FRAME))
    return model


@pytest.mark.parametrize(("count", "floating", "seed"), [case for case in CASES if case[0] in COUNTS[1::2]])
@TOLERANCES
def test_random_trees(count, floating, seed, precision, tolerance):
    """rnea, crba, aba, gravity, Coriolis, computeMinverse, frame Jacobians and the centroidal map."""
    tree, states, efforts, _rng = random_case(count, floating, seed)
    simulation = simulate(tree, states, precision)
    model = with_centers(ours.build(tree))
    references = [Reference(model, state) for state in states]
    gravity = np.array([reference.gravity() for reference in references])
    coriolis = np.array([reference.coriolis() for reference in references])
    close(simulation.mass_matrix().numpy(), [ours.mass_matrix(model, state) for state in states], tolerance)
    close(simulation.gravity_force().numpy(), gravity, tolerance)
    scale = max(1.0, np.abs(coriolis).max(initial=0.0))
    np.testing.assert_allclose(simulation.coriolis_force().numpy(), coriolis, rtol=0, atol=tolerance * scale)
    vdot = efforts
    wanted = [reference.inverse_dynamics(a) for reference, a in zip(references, vdot)]
    close(simulation.joint_force(vdot).numpy() + gravity, wanted, tolerance)
    wanted = [ours.acceleration(model, state, effort) for state, effort in zip(states, efforts)]
    close(simulation.joint_acceleration(efforts).numpy(), wanted, tolerance)
    close(simulation.mass_matrix_inverse().numpy(), [r.inverse_mass_matrix() for r in references], tolerance)
    close(simulation.jacobian().numpy(), [reference.jacobian() for reference in references], tolerance)
    centers = simulation.center_of_mass().numpy().astype(float)
    wanted = [reference.centroidal_map(center) for reference, center in zip(references, centers)]
    close(simulation.centroidal_momentum_matrix().numpy(), wanted, tolerance)


@pytest.mark.parametrize("count", [3, 13, 34])
@TOLERANCES
def test_the_rate_of_momentum_is_the_external_force(count, precision, tolerance):
    """Of floating trees under forces on links, weights and efforts of joints: by Pinocchio, of our accelerations."""
    tree, states, efforts, rng = random_case(count, True, 3)
    efforts[:, :6] = 0.0
    wrench = rng.normal(size=(len(states), count, 6))
    simulation = simulate(tree, states, precision)
    simulation.control.link_external_force.assign(wrench.transpose(1, 2, 0))
    found, model = simulation.joint_acceleration(efforts).numpy().astype(float), ours.build(tree)
    masses = np.array([link.mass for link in tree.links])
    for state, vdot, forces in zip(states, found, wrench):
        reference = Reference(model, state)
        a_pin = reference.T @ vdot + reference.b
        rate = pin.computeCentroidalMomentumTimeVariation(model.model, reference.data, reference.q, reference.v, a_pin)
        R, p, _V = ours.link_motion(model, state)
        centers = p + np.einsum("lij,lj->li", R, [link.center_of_mass for link in tree.links])
        arms = centers - masses @ centers / masses.sum()
        wanted = forces.sum(axis=0)
        wanted[:3] += masses.sum() * model.model.gravity.linear
        wanted[3:] += np.cross(arms, forces[:, :3]).sum(axis=0)
        scale = max(masses.sum() * np.abs(vdot).max(), np.abs(wanted).max())
        np.testing.assert_allclose(rate.vector, wanted, rtol=0, atol=tolerance * scale)
