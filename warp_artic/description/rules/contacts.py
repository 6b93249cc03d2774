"""Rules of colliders and contacts."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, ERROR_OR_NOTE, ERROR_OR_WARNING, NOTE, WARNING, Rule

OF_CONTACTS = (
    Rule(
        "contacts",
        WARNING,
        "The stage has colliders without contacts: fine static meshes, and unknown shapes.",
        "Primitive shapes, planes, convex hulls, and static meshes of up to 50,000 triangles.",
        "Set the approximation of a mesh to convexHull or boundingCube, or expect that bodies pass through it.",
    ),
    Rule(
        "contacts-off",
        NOTE,
        "The physics scene disables contacts.",
        "Any.",
        "Author mjc:flag:contact = 1 to enable them.",
    ),
    Rule(
        "contact-shape",
        WARNING,
        "A collider is simulated with another shape than authored, or without contacts.",
        "Planes, spheres, capsules, cylinders, cones and boxes of some size; meshes that are convex or use their hull.",
        "Use one of these shapes with a uniform scale, or the approximation convexHull.",
    ),
    Rule(
        "convex-parts",
        NOTE,
        "A solid that is not convex is decomposed into convex parts, which takes seconds the first time.",
        "Any; the parts are close to it, and may stand out of it a little.",
        "Author the parts as colliders, or set the approximation to convexHull.",
    ),
    Rule(
        "contact-material",
        ERROR_OR_NOTE,
        "A physics material has a value out of range; or, as a note, colliders without one use the defaults of PhysX.",
        "Friction, stiffness and damping that are finite and not negative, restitution from 0 to 1.",
        "Correct the value, or bind a Material with PhysicsMaterialAPI (material:binding:physics).",
    ),
    Rule(
        "contact-subset",
        WARNING,
        "Physics materials are bound to subsets of the faces of a mesh; a collider has one material.",
        "One physics material for all of a mesh.",
        "Bind the material to the mesh, or split the mesh where materials differ.",
    ),
    Rule(
        "contact-offset",
        ERROR,
        "The contact offset of a collider is below its rest offset.",
        "A contact offset that is finite, and not below the rest offset.",
        "Raise the contact offset or lower the rest offset, or remove both.",
    ),
    Rule(
        "contact-filter",
        ERROR_OR_WARNING,
        "A collision filter targets no collider, or cannot be read.",
        "Filtered pairs of colliders, rigid bodies and articulation roots, and collections of colliders.",
        "Correct the relationship.",
    ),
    Rule(
        "trigger",
        WARNING,
        "A collider is a trigger of PhysX: it touches nothing, and its events are not reported.",
        "Colliders that touch, and contact reports.",
        "Compare positions of links in a recording with the place of the trigger, or remove PhysxTriggerAPI.",
    ),
    Rule(
        "contact-mechanism",
        WARNING,
        "Bodies pass through each other: mechanisms with elastic bodies or a kinematic base have no contacts.",
        "Contacts between mechanisms that have neither elastic bodies nor a kinematic base.",
        "Exclude pairs that need no contact with collision groups or filtered pairs.",
    ),
    Rule(
        "elastic-contact",
        WARNING,
        "An elastic body passes through colliders, or part of their material does not count for it.",
        "Nodes of bodies that have nothing to do with links touch planes, spheres, capsules and boxes that stay, or "
        "move as they are animated; of materials friction counts.",
        "Use such shapes for what it rests on; exclude others with collision groups or filtered pairs.",
    ),
    Rule(
        "contact-islands",
        NOTE,
        "Too many bodies could be in contact to be solved as one mechanism.",
        "Up to 128 degrees of freedom, 400 pairs of colliders and 100 m apart, bodies that may touch are one "
        "mechanism, whose contacts are solved exactly; beyond that, and where one may touch itself in more than 1,000 "
        "pairs, each island of contacts is solved by sweeps.",
        "For exact contacts, exclude pairs with collision groups or filtered pairs.",
    ),
)
