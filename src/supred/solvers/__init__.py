"""Solvers: pure functions on arrays, with no estimator in sight."""
