"""Rules of rigid bodies: masses, inertias, places."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, NOTE, WARNING, Rule

OF_BODIES = (
    Rule(
        "articulation-missing",
        ERROR,
        "The stage has nothing to simulate.",
        "At least one prim with PhysicsRigidBodyAPI that is enabled and not kinematic.",
        "Apply PhysicsRigidBodyAPI to the parts that move; check that their payloads are loaded and prims active.",
    ),
    Rule(
        "body-held",
        NOTE,
        "A body is kinematic, disabled or simulated by another owner, so forces do not move it; or it is disabled "
        "below another one, of which it is a part.",
        "Any; a dynamic body is none of these.",
        "Set physics:kinematicEnabled = 0 and physics:rigidBodyEnabled = 1 if it should move.",
    ),
    Rule(
        "transform",
        ERROR,
        "The transform of a rigid body, joint frame or collider is singular, sheared, scaled too far or not finite.",
        "Finite transforms of moderate scale, without shear or a scale of zero.",
        "Correct the transform ops of the prim or of those above; freeze a non-uniform scale into the geometry.",
    ),
    Rule(
        "quaternion",
        ERROR,
        "A quaternion of the scene is not of unit length.",
        "Quaternions xyzw of unit length.",
        "Normalise it.",
    ),
    Rule(
        "transform-op",
        WARNING,
        "xformOpOrder of a prim names an op that does not exist, which USD ignores.",
        "Ops that are attributes of the prim.",
        "Author the op, or remove its name from xformOpOrder.",
    ),
    Rule(
        "quaternion-length",
        WARNING,
        "A quaternion on the stage is not of unit length.",
        "Quaternions of unit length.",
        "Author it normalised; (1, 0, 0, 0) is no rotation.",
    ),
    Rule(
        "mass",
        ERROR,
        "The mass of a body is missing, or not positive.",
        "A positive physics:mass, or enabled colliders with a volume and a positive density.",
        "Author physics:mass on the body, or put an enabled collider on or below it.",
    ),
    Rule(
        "inertia",
        ERROR,
        "An inertia is singular or negative.",
        "Three positive principal moments, or none authored on a body with colliders.",
        "Author physics:diagonalInertia of a solid of this size, or remove it to compute it from colliders.",
    ),
    Rule(
        "inertia-triangle",
        WARNING,
        "An inertia violates the triangle inequality: one principal moment exceeds the sum of the other two.",
        "Principal moments of which none exceeds the sum of the other two.",
        "Check its unit (mass times distance squared) and its order xx, yy, zz.",
    ),
    Rule(
        "inertia-range",
        WARNING,
        "A mass or inertia is too large or too small for the precision; steps are refused.",
        "From 1e-21 to 1e+19 kg or kg m^2 by any joint in float32, and from 1e-150 to 1e+150 in float64.",
        "Check the units of the stage and the masses, or step with float64.",
    ),
    Rule(
        "mass-unset",
        NOTE,
        "A collider has a mass of zero, which in UsdPhysics means that its mass is computed.",
        "Any; zero means that the density decides.",
        "Author a positive physics:mass, or remove the collision schema from visual geometry.",
    ),
    Rule(
        "inertia-missing",
        WARNING,
        "A body has a mass, but neither an inertia nor colliders to compute it from.",
        "physics:diagonalInertia, or colliders on or under the body.",
        "Author physics:diagonalInertia, or put a collider on the body.",
    ),
    Rule(
        "collider-shape",
        WARNING,
        "The volume of a collider is unknown, so it adds no mass to its body.",
        "Cube, Sphere, Cylinder, Cone and Capsule of some size, and Mesh with points and faces.",
        "Author physics:mass on the collider or the body, or use a shape with a volume.",
    ),
    Rule(
        "collider-open",
        WARNING,
        "A mesh is not closed, so mass properties are those of its bounding box.",
        "Closed meshes, in which each edge belongs to two faces.",
        "Close the mesh, or author mass and inertia on the body.",
    ),
    Rule(
        "damping",
        ERROR,
        "A damping rate of a link is out of range.",
        "Finite rates of zero or more.",
        "Correct the rate.",
    ),
    Rule(
        "damping-fallback",
        NOTE,
        "PhysX damps the rotation of bodies that have its schema, also if no value is authored; so do we.",
        "Any rate of zero or more.",
        "Author physxRigidBody:angularDamping = 0 for no damping.",
    ),
)
