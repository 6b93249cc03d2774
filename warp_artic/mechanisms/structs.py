"""The structs of arrays of a number type, with what constraint families add to them."""

from functools import cache
from types import SimpleNamespace

from warp_artic.math.numbers import Numbers
from warp_artic.model.arrays import StructFields, structs_of


@cache
def arrays_for(numbers: Numbers) -> SimpleNamespace:
    """The structs Model, State, Control, Work, Report, Forces, Contacts and Kept of a number type."""
    return structs_of(numbers, StructFields())
