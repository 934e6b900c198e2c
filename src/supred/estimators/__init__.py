"""The estimators: thin objects that validate, choose parts, call a solver and keep the result."""
