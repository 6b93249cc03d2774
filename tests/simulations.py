"""Simulations as tests want them."""

from functools import partial

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.articulation import Articulation
from warp_artic.description.scene import Scene


def simulate(
    simulated: Scene | Articulation,
    environments: int = 1,
    *,
    gravity=rigid.GRAVITY,
    dt: float = 1.0 / 240.0,
    **settings,
) -> Simulation:
    """A simulation of a scene, or of an articulation under a gravity [m/s^2]; 240 steps a second."""
    scene = simulated if isinstance(simulated, Scene) else trees.scene(simulated, gravity=gravity)
    return Simulation(scene, environments=environments, settings=SolverSettings(dt=dt, **settings))


simulate_exactly = partial(simulate, precision="float64", variant="scalar")
"""The same in double precision, each environment by itself."""
