"""Files that are broken on purpose: each is read, or refused with sentences, and what reads steps or stops by name.

`python -m tests.fuzz_files --count 10000 --simulate 2000` does the same with many.
"""

from tests.broken_files import KINDS, broken_file
from tests.fuzz_files import outcomes

COUNT, EVERY = 100, 5


def test_broken_files():
    """No traceback, nothing slow, nothing that is not finite without a name; what OpenUSD aborts on is its own."""
    stepped = frozenset(seed for seed in range(COUNT) if (seed // len(KINDS)) % EVERY == 0)
    found = list(outcomes(range(COUNT), stepped))
    assert sorted(one.seed for one in found) == list(range(COUNT))
    assert [one for one in found if one.is_wrong] == []
    assert {"read", "errors", "refused", "stepped"} <= {one.found for one in found}
    assert {one.kind for one in found} == {kind.__name__ for kind in KINDS}


def test_files_are_drawn_alike(tmp_path):
    """A seed gives the same file each time."""
    for seed in range(2 * len(KINDS)):
        contents = []
        for name in ("first", "second"):
            folder = tmp_path / f"{seed}_{name}"
            folder.mkdir()
            contents.append(broken_file(seed, folder).read_bytes())
        assert contents[0] == contents[1] or b"PK" in contents[0][:2], seed
