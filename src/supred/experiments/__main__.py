"""``python -m supred.experiments``: the same as ``supred reproduce``."""

from supred.experiments.command import main

if __name__ == "__main__":
    raise SystemExit(main())
