"""Rules of stages as files: units, composition, values of attributes, schemas."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, NOTE, WARNING, WARNING_OR_NOTE, Rule

OF_STAGES = (
    Rule(
        "stage-unreadable",
        ERROR,
        "The stage cannot be opened.",
        "A .usd, .usda, .usdc or .usdz file with content that USD can read.",
        "Correct the path, or the file at the place that is named.",
    ),
    Rule(
        "stage-units",
        ERROR,
        "The unit of length or mass of the stage is out of range.",
        "metersPerUnit and kilogramsPerUnit from 1e-9 to 1e9.",
        "Set the metadata of the root layer, such as metersPerUnit = 0.01 for centimetres.",
    ),
    Rule(
        "stage-up-axis",
        ERROR,
        "The up axis of the stage is unknown to USD, so gravity has no direction.",
        "upAxis Y or Z.",
        'Set upAxis = "Z" or "Y" in the metadata of the root layer.',
    ),
    Rule(
        "stage-time",
        ERROR,
        "The time codes of the stage, or their rate, are out of range.",
        "Positive and finite timeCodesPerSecond and framesPerSecond; finite time codes, at most 250000 apart.",
        "Correct the metadata of the root layer, or the time samples.",
    ),
    Rule(
        "meters-per-unit",
        NOTE,
        "metersPerUnit is not authored; USD then uses centimetres.",
        "Any; the message names the unit that is used.",
        "Author metersPerUnit in the metadata of the root layer, so that all tools use the same unit.",
    ),
    Rule(
        "composition",
        WARNING,
        "A reference, payload or sublayer of the stage cannot be resolved; its content is missing.",
        "Layers and prims that exist.",
        "Correct the asset path or the prim path, or restore the missing file.",
    ),
    Rule(
        "attribute-value",
        ERROR,
        "A property has a value of a wrong type, or one that has no meaning.",
        "The type and the values that the schema of the attribute allows; the message lists them.",
        "Author a value of that kind, or remove the opinion to use the default.",
    ),
    Rule(
        "time-samples",
        WARNING,
        "A value has time samples, but only its value at the start is used.",
        "Time samples of targets and gains of drives, rest lengths and offsets of tendons, stiffness, target lengths "
        "and tensions of tendons on meshes, gravity and kinematic bodies that carry mechanisms, which a run follows; "
        "and of outputs of a run.",
        "Keep one value, or author the motion as drive targets.",
    ),
    Rule(
        "array-length",
        WARNING,
        "An array has several values, of which one is used.",
        "One value.",
        "Keep the first value; apply the schema once more for each further axis.",
    ),
    Rule(
        "not-finite",
        ERROR,
        "A value is infinite or not a number.",
        "Finite numbers.",
        "Author a finite number at this prim.",
    ),
    Rule(
        "negative",
        ERROR,
        "A value is negative or infinite, which is not allowed.",
        "Zero or more, and finite unless it is a bound.",
        "Correct the value; a wrong sign is often another convention.",
    ),
    Rule(
        "dialects-differ",
        WARNING,
        "Two schema families author different values for the same thing.",
        "One of them, or both with equal values.",
        "Remove one of the two, or put the schema family that is right first with --dialects.",
    ),
    Rule(
        "attribute-not-used",
        WARNING_OR_NOTE,
        "An authored physics attribute has no effect; a note if it does not concern the motion of a mechanism.",
        "Attributes of our schemas, and their equivalents of UsdPhysics, PhysX, Newton and MuJoCo.",
        "Check the spelling of its name, apply the schema that it needs, or leave it to other programs.",
    ),
    Rule(
        "schema-not-used",
        WARNING_OR_NOTE,
        "An applied physics schema has no effect; a note if it does not concern the motion of a mechanism.",
        "The schemas of usd_schemas/README.md, and their equivalents of UsdPhysics, PhysX, Newton and MuJoCo.",
        "Check the spelling of its name, or leave it to other programs.",
    ),
    Rule(
        "not-simulated",
        WARNING,
        "An attribute is read, but its effect is not simulated yet.",
        "The default of the attribute, which means no effect.",
        "Expect the motion without this effect, or remove the opinion.",
    ),
    Rule(
        "joint-type",
        WARNING,
        "A prim has the bodies of a joint, but a type that is none.",
        "The joints of UsdPhysics, and gears.",
        "Correct the type, or expect that the bodies are not joined.",
    ),
    Rule(
        "deformable",
        WARNING,
        "A mesh is a deformable body by a schema that is not simulated.",
        "Elastic bodies by WarpArticElasticBodyAPI.",
        "Apply WarpArticElasticBodyAPI, or expect that the mesh keeps its shape and its place.",
    ),
    Rule(
        "particles",
        WARNING,
        "Particles, or a cloth or a fluid of them, are not simulated.",
        "Rigid and elastic bodies.",
        "Expect that they stay where they are, and act on nothing.",
    ),
    Rule(
        "surface-velocity",
        WARNING,
        "The surface of a collider moves, as that of a conveyor belt, which is not simulated.",
        "Colliders that rest, or move with a body.",
        "Move the body itself, as an animated kinematic one.",
    ),
    Rule(
        "point-instancer",
        WARNING,
        "Rigid bodies are below a point instancer, which repeats them.",
        "Bodies that are prims, or instances of prims by reference.",
        "Reference the asset once for each point, or simulate several environments.",
    ),
    Rule(
        "vehicle",
        WARNING,
        "A vehicle of PhysX is on the stage.",
        "Vehicles built of links, joints and drives.",
        "Model wheels as links on joints, or expect the vehicle to stand still.",
    ),
    Rule(
        "force",
        WARNING,
        "A force of PhysX is on a body.",
        "Efforts at joints.",
        "Apply joint efforts with --inputs, or expect the motion without this force.",
    ),
)
