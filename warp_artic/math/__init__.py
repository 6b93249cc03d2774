"""Numbers, vectors and spatial algebra as Warp functions, written once for every number type.

What is decorated after an import from here is registered with Warp late, and kernels get their names from
`math.kernel_digest`, as far as the version of Warp is known.
"""

from contextlib import suppress

from warp_artic.math import kernel_digest, late_functions
from warp_artic.math.lean_codegen import is_known

if is_known():
    with suppress(ImportError, AttributeError):  # a start only takes longer without
        kernel_digest.install()
        late_functions.install()
