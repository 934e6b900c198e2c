"""Mappings F of the low-dimensional SVM."""
