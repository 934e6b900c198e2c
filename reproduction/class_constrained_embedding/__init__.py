"""Experiments of the class constrained embedding."""
