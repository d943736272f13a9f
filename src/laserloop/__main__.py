"""`python -m laserloop` is `laserloop`."""

import sys

from laserloop.cli import main

sys.exit(main())
