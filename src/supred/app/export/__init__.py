"""Fitted models in files that hold data only."""
