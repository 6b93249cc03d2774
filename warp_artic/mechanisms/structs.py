"""The structs of arrays of a number type, with what constraint families add to them."""

from functools import cache
from types import SimpleNamespace

from warp_artic.constraints.contact_detection import add_detection
from warp_artic.constraints.loop_place import add_loop_place
from warp_artic.constraints.table import FAMILIES
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.public_rows import MEASURES, MEMORY, MULTIPLIERS, PARAMETERS
from warp_artic.model.structs import StructFields, structs_of

FIELDS = StructFields(
    tables=tuple(name for family in FAMILIES for name in family.tables),
    counts=tuple(name for family in FAMILIES for name in (*family.flags, *family.counts)),
    parameters=tuple(parameter.name for parameter in PARAMETERS),
    scratch=tuple(name for family in FAMILIES for name in family.scratch),
    measures=tuple(MEASURES),
    multipliers=tuple(MULTIPLIERS),
    memory=tuple(MEMORY),
)


@cache
def arrays_for(numbers: Numbers) -> SimpleNamespace:
    """The structs Model, State, Control, Work, Report, Forces, Contacts and Kept of a number type."""
    if numbers.is_dual:
        add_loop_place(numbers)
        add_detection(numbers)
    return structs_of(numbers, FIELDS)
