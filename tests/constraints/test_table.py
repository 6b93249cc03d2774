"""The list of constraint families, by which rows are in order."""

from warp_artic.constraints.contact import CONTACT, CONTACT_FRICTION
from warp_artic.constraints.table import FAMILIES


def test_orders_are_unique_and_ascend():
    """Rows of a mechanism are sorted by them, and switches ask for ranges of them."""
    orders = [family.order for family in FAMILIES]
    assert orders == sorted(set(orders))


def test_stops_come_last():
    """Rows from the first stop on are looked at by their bounds, those before it always.

    Rows of contact points that users register are in no step, and come before all others.
    """
    stops = [family.is_stop for family in FAMILIES if family not in (CONTACT, CONTACT_FRICTION)]
    assert any(stops)
    assert stops == sorted(stops)
