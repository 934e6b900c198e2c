"""Commands that measure supred beside its peers: ``python -m benchmarks NAME``."""
