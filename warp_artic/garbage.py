"""Pauses the collection of garbage where much is made that stays: each collection would go through all of it anew."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No collection within; it is on again after that if it was on before.

    The collector is that of the process: of several threads that pause it, the first one turns it on again.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()
