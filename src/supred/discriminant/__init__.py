"""Kernel Fisher discriminant analysis."""
