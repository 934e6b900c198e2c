"""Run as ``python -m supred.cli``."""

import sys

from supred.cli.main import main

sys.exit(main())
