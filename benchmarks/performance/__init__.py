"""How fast supred is beside what a user would take instead: ratios, with the accuracy of both.

``python -m benchmarks performance`` runs every benchmark and writes one record each to
``benchmarks/records``; ``--only NAME`` runs some, ``--quick`` the small set that needs no data
and compares its ratios with the last recorded ones, ``--page`` writes docs/performance.md.
"""

from benchmarks.performance._command import main

__all__ = ["main"]
