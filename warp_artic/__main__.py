"""`python -m warp_artic` is the command `warp-artic`."""

import sys

from warp_artic.cli.main import main

sys.exit(main())
