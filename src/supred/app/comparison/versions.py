"""Versions of what took part."""

import importlib.metadata
import platform

from supred._version import __version__


def versions() -> dict[str, str]:
    """Return the versions of what took part."""
    found = {"supred": __version__, "Python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "umap-learn"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
