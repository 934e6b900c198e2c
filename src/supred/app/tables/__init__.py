"""Tables of users: reading them, and turning them into numbers in a scikit-learn pipeline."""
