"""Category space (Smith and Rangarajan)."""
