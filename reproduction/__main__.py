"""Run the papers' experiments: ``python -m reproduction``."""

from reproduction.command import main

if __name__ == "__main__":
    raise SystemExit(main())
