"""Run as ``python -m supred.app.cli``."""

import sys

from supred.app.cli.main import main

sys.exit(main())
