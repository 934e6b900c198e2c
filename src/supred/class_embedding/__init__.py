"""Class constrained embedding (Costa and Hero)."""
