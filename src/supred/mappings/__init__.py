"""Mappings F from features to latent coordinates, behind one small interface."""
