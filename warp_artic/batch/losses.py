"""Shards that are waiting for workers, and what is done with those whose workers were lost.

A shard that was lost with its worker is tried again, twice; then its halves are, and so on until a run that ends each
of its workers is alone, and is named.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from warp_artic.batch.store import Shard

TRIALS = 3
"""Of the same runs."""


@dataclass(eq=False)
class Waiting:
    """Shards that nobody steps yet."""

    shards: deque[Shard]
    _lost: dict[Shard, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.shards)

    def next(self) -> Shard:
        """The next one."""
        return self.shards.popleft()

    def take_back(self, shard: Shard) -> bool:
        """Have a shard tried again whose worker was lost; whether it is one run that has been tried often enough."""
        self._lost[shard] = self._lost.get(shard, 0) + 1
        if self._lost[shard] < TRIALS:
            self.shards.appendleft(shard)
            return False
        if shard.last - shard.first == 1:
            return True
        middle = (shard.first + shard.last) // 2
        # A half has been lost with the whole as often but for once.
        for half in (Shard(middle, shard.last), Shard(shard.first, middle)):
            self._lost[half] = TRIALS - 2
            self.shards.appendleft(half)
        return False
