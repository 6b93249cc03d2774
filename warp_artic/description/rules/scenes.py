"""Rules of scenes: settings, outputs, what is simulated at all."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, NOTE, WARNING, Rule

OF_SCENES = (
    Rule(
        "scene-empty",
        ERROR,
        "The scene has no articulation.",
        "At least one articulation.",
        "Add an articulation of at least one link.",
    ),
    Rule(
        "scene-missing",
        NOTE,
        "There is no PhysicsScene, so gravity and settings are the defaults.",
        "One PhysicsScene, or none.",
        "Define a PhysicsScene to set gravity, time step or solver.",
    ),
    Rule(
        "scene-several",
        WARNING,
        "There are several physics scenes, but all bodies are simulated in one.",
        "One PhysicsScene.",
        "Remove the others, or set physics:simulationOwner of the bodies.",
    ),
    Rule(
        "owner-missing",
        ERROR,
        "The requested physics scene does not exist.",
        "The path of a PhysicsScene.",
        "Use one of those in the message.",
    ),
    Rule(
        "scene-owner",
        WARNING,
        "The simulation owner of a body is not a physics scene.",
        "physics:simulationOwner that targets a PhysicsScene, or nothing.",
        "Correct or remove the relationship.",
    ),
    Rule(
        "time-step",
        ERROR,
        "The time step, or the rate that it comes from, is out of range.",
        "A positive and finite number.",
        "Author a rate such as warpArtic:scene:timeStepsPerSecond = 240.",
    ),
    Rule(
        "iterations",
        ERROR,
        "An iteration count of the solver is out of range.",
        "Whole numbers: 1 to 1000000 position iterations, 0 to 1000000 velocity iterations.",
        "Author a count in this range, or remove the opinion.",
    ),
    Rule(
        "fixed-base",
        WARNING,
        "An articulation with a fixed base has a largest velocity as a whole, which acts on floating ones only.",
        "warpArtic:articulation:maxLinearVelocity and maxAngularVelocity on floating articulations.",
        "Remove the opinion, or limit single links with WarpArticLinkAPI.",
    ),
    Rule(
        "count-turns",
        WARNING,
        "Turns are to be counted of an axis that slides, or is one of several rotations of a joint.",
        "countTurns on the only rotation of a joint.",
        "Remove the opinion, or author it on the axis that turns.",
    ),
    Rule(
        "mechanism",
        ERROR,
        "These articulations cannot be stepped as one mechanism.",
        "Prim paths of articulations of the scene that no kinematic body carries and no elastic body is attached to.",
        "Remove the articulation from Scene.mechanisms.",
    ),
    Rule(
        "mechanism-far",
        WARNING,
        "Parts of a mechanism are so far apart that float32 loses precision of their positions, which share an origin.",
        "Roots within 100 m of the first one.",
        "Place them closer together, step them as mechanisms of their own, or choose float64 for the precision.",
    ),
    Rule(
        "sleep-threshold",
        ERROR,
        "The energy below which an articulation falls asleep is out of range.",
        "A finite number that is not negative.",
        "Author a number in this range, or remove the opinion; 0 keeps the articulation awake.",
    ),
    Rule(
        "sleep-after",
        ERROR,
        "The time at rest before sleep is out of range.",
        "Zero or more; infinite: nothing ever sleeps.",
        "Author a time such as warpArtic:scene:sleepAfter = 0.4, or remove the opinion.",
    ),
    Rule(
        "sleep-on-request",
        NOTE,
        "The stage has a sleep threshold, but sleep is off by default.",
        "Any.",
        "To allow sleep, author warpArtic:scene:sleepAfter = 0.4, or run with --sleep-after 0.4.",
    ),
    Rule(
        "starts-asleep",
        WARNING,
        "A body starts asleep, but its articulation starts awake: some of its bodies are awake, or some that may touch "
        "it or are joined to it, or sleep is off.",
        "All bodies that are stepped as one mechanism, and a time such as warpArtic:scene:sleepAfter = 0.4.",
        "Author physics:startsAsleep on all bodies of the mechanism or on none, and sleepAfter to allow sleep.",
    ),
)
