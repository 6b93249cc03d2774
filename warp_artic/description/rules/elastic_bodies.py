"""Rules of elastic bodies and tendons on them."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, ERROR_OR_WARNING, NOTE, WARNING, Rule

OF_ELASTIC_BODIES = (
    Rule(
        "elastic-mesh",
        ERROR,
        "An elastic body is not a mesh, or is also a rigid body.",
        "WarpArticElasticBodyAPI on a Mesh or a TetMesh without PhysicsRigidBodyAPI.",
        "Move the schema to the mesh that deforms, or remove one of the two schemas.",
    ),
    Rule(
        "elastic-material",
        ERROR,
        "The material of an elastic body is missing, or has a value out of range.",
        "A positive Young's modulus and density, a Poisson's ratio above -1 and below 0.5, damping of zero or more.",
        "Bind a Material with WarpArticElasticMaterialAPI (material:binding:physics), or correct its value.",
    ),
    Rule(
        "elastic-thickness",
        ERROR,
        "The thickness of a mesh of triangles is out of range.",
        "A positive and finite length.",
        "Correct warpArtic:elastic:thickness, or remove the opinion; the default is 1 m.",
    ),
    Rule(
        "elastic-points",
        ERROR,
        "The arrays of the nodes of a mesh are empty or differ in length.",
        "Points, and rest points and velocities for each of them or none.",
        "Author as many entries as the mesh has points, or remove the shorter array.",
    ),
    Rule(
        "elastic-triangles",
        ERROR,
        "A Mesh of an elastic body has faces that are not triangles.",
        "Faces of three corners.",
        "Triangulate the mesh.",
    ),
    Rule(
        "elastic-plane",
        ERROR,
        "A mesh of triangles does not lie in one plane, or has velocities out of it.",
        "Points at rest and at the start, and velocities, in one plane.",
        "Flatten the mesh, or make a TetMesh of the solid that it encloses.",
    ),
    Rule(
        "elastic-element",
        ERROR,
        "An element of a mesh is degenerate, inverted, a duplicate, or has a wrong or repeated node.",
        "Elements of different nodes with one orientation; in a TetMesh that of its orientation attribute.",
        "Swap two nodes of an inverted element; remove a degenerate or duplicate one; correct the index of a node.",
    ),
    Rule(
        "elastic-parts",
        ERROR,
        "A disconnected part of a mesh is not pinned or attached.",
        "A pinned or attached node in each part; any number if the mesh is connected.",
        "Pin or attach a node of the part, join it to the rest, or remove its points.",
    ),
    Rule(
        "elastic-free",
        NOTE,
        "No node of an elastic body is pinned or attached.",
        "Any; an equilibrium needs pinned or attached nodes.",
        "Author warpArtic:elastic:pinnedNodes, or attach nodes to links, if it should not move freely.",
    ),
    Rule(
        "elastic-held",
        ERROR,
        "A pinned or attached node does not exist, or is listed twice.",
        "Nodes of the mesh, each once.",
        "Correct warpArtic:elastic:pinnedNodes or warpArtic:elastic:linkNodes.",
    ),
    Rule(
        "elastic-link",
        ERROR,
        "A node is attached to a prim that is not a link of an articulation.",
        "Rigid bodies that move, and prims below them.",
        "Correct warpArtic:elastic:links, or pin the node.",
    ),
    Rule(
        "mesh-places",
        ERROR_OR_WARNING,
        "The lists of points of a mesh, or of a tendon on it, differ in length or target missing prims.",
        "Prims that exist, each with a point; for each point the index of its prim and a position.",
        "Complete the shorter list, or correct the relationship.",
    ),
    Rule(
        "mesh-tendon-body",
        ERROR,
        "The mesh of a tendon is not an elastic body.",
        "One mesh with WarpArticElasticBodyAPI.",
        "Correct warpArtic:mesh, or apply the schema to its target.",
    ),
    Rule(
        "mesh-tendon-lists",
        ERROR,
        "The lists of the waypoints of a tendon differ in length.",
        "nodeCounts that add up to the nodes, a weight for each node or none, a position for each count of zero.",
        "Complete the shorter list.",
    ),
    Rule(
        "mesh-tendon-waypoints",
        ERROR,
        "A waypoint of a tendon is invalid, a duplicate, or the only one.",
        "At least two different waypoints: nodes of the mesh with weights that sum to one, or points that are finite.",
        "Correct the waypoint at this index.",
    ),
    Rule(
        "mesh-tendon-length",
        ERROR,
        "A tendon, or a segment of it, has a length of zero at rest, and so no direction.",
        "Waypoints at a distance from those before and after them.",
        "Remove one of the two waypoints, or move its node.",
    ),
    Rule(
        "mesh-tendon-tension",
        ERROR,
        "The largest tension of a tendon is below its smallest.",
        "Tensions of zero or more, the largest at or above the smallest.",
        "Swap the two, or remove one.",
    ),
    Rule(
        "mesh-tendon-idle",
        WARNING,
        "The law of a tendon needs a stiffness, which is zero.",
        "A positive stiffness, or the law tension.",
        "Author warpArtic:stiffness.",
    ),
)
