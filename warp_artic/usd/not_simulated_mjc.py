"""What the MuJoCo dialect can say that is not simulated: named where it is not its default."""

from __future__ import annotations

SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
SOLREF = (0.02, 1.0)

MJC_ATTRIBUTES: dict[str, tuple[str, object]] = {
    "mjc:springdamper": ("a spring given by its time constant and damping ratio", (0.0, 0.0)),
    "mjc:margin": ("a margin before a limit", 0.0),
    "mjc:priority": ("a material that counts before others", 0.0),
    "mjc:actuatorgravcomp": ("gravity compensation by actuators", 0.0),
    "mjc:solreflimit": ("the compliance of a limit in solver parameters", SOLREF),
    "mjc:solimplimit": ("the impedance of a limit", SOLIMP),
    "mjc:solreffriction": ("the compliance of dry friction", SOLREF),
    "mjc:solimpfriction": ("the impedance of dry friction", SOLIMP),
    "mjc:solref": ("the compliance of a constraint in solver parameters", SOLREF),
    "mjc:solimp": ("the impedance of a constraint", SOLIMP),
    "mjc:torqueScale": ("the weight of rotations in a weld", 1.0),
    "mjc:armature": ("the inertia of a tendon", 0.0),
    "mjc:frictionloss": ("dry friction of a tendon", 0.0),
    "mjc:actDim": ("the size of the activation of an actuator", -1.0),
    "mjc:actEarly": ("early activation of an actuator", 0.0),
    "mjc:actLimited": ("bounds on the activation of an actuator", "auto"),
    "mjc:actRange:min": ("bounds on the activation of an actuator", 0.0),
    "mjc:actRange:max": ("bounds on the activation of an actuator", 0.0),
    "mjc:dynPrm": ("dynamics of the activation of an actuator", (1.0, *(0.0,) * 9)),
    "mjc:crankLength": ("a slider-crank", 0.0),
    "mjc:inheritRange": ("a range of controls taken over from the joint", 0.0),
    "mjc:jointInParent": ("the axis of an actuator in the parent frame", 0.0),
    "mjc:lengthRange:min": ("the range of lengths of a muscle", 0.0),
    "mjc:lengthRange:max": ("the range of lengths of a muscle", 0.0),
    "mjc:sideSites:indices": ("the side on which a tendon wraps", ()),
    "mjc:flag:actuation": ("actuation switched off", 1.0),
    "mjc:flag:constraint": ("constraints switched off", 1.0),
    "mjc:flag:damper": ("dampers switched off", 1.0),
    "mjc:flag:frictionloss": ("dry friction switched off", 1.0),
    "mjc:flag:limit": ("limits switched off", 1.0),
    "mjc:flag:spring": ("springs switched off", 1.0),
    "mjc:flag:clampctrl": ("bounds on controls switched off", 1.0),
    "mjc:option:integrator": ("an integrator by this name", "euler"),
    "mjc:option:density": ("the density of a medium", 0.0),
    "mjc:option:viscosity": ("the viscosity of a medium", 0.0),
    "mjc:option:wind": ("wind", (0.0, 0.0, 0.0)),
    "mjc:option:actuatorgroupdisable": ("groups of actuators switched off", ()),
    "mjc:compiler:autoLimits": ("ranges that need a switch", 1.0),
    "mjc:compiler:balanceInertia": ("inertias that the compiler balances", 0.0),
    "mjc:compiler:boundInertia": ("a lower bound on inertias", 0.0),
    "mjc:compiler:boundMass": ("a lower bound on masses", 0.0),
    "mjc:compiler:inertiaFromGeom": ("whether masses come from colliders", "auto"),
    "mjc:compiler:setTotalMass": ("a total mass to which the compiler scales", -1.0),
}
"""What an attribute stands for, and the value that means none."""

MJC_RELATIONSHIPS: dict[str, str] = {
    "mjc:sideSites": "the side on which a tendon wraps",
    "mjc:refSite": "an actuator that acts relative to a site",
    "mjc:sliderSite": "a slider-crank",
}
"""What a relationship that leads somewhere stands for."""

MJC_HARMLESS = (
    "mjc:group",
    "mjc:cam",
    "mjc:light",
    "mjc:rgba",
    "mjc:statistic",
    "mjc:user",
    "mjc:width",
    "mjc:flag:",
    "mjc:option:",
    "mjc:compiler:",
    "mjc:condim",
    "mjc:gap",
    "mjc:priority",
    "mjc:solmix",
    "mjc:maxhullvert",
)
"""How attributes begin that concern looks, contacts or the engine of MuJoCo."""

MJC_OF_CONTACTS = ("mjc:margin", "mjc:solimp", "mjc:solref")
"""Attributes that concern contacts where they are on a collider, and constraints elsewhere."""
