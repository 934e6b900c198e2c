"""Experiments of the low-dimensional SVM."""
