"""The package as a whole: what it exports and what importing it costs."""

import importlib
import subprocess
import sys

import pytest

import supred

MODULES = ("supred", "supred.plotting", "supred.export", "supred.datasets", "supred.app.report")


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_can_be_imported_and_has_an_example(module):
    names = importlib.import_module(module).__all__
    for name in set(names) - {"__version__"}:
        value = getattr(importlib.import_module(module), name)
        assert ">>>" in value.__doc__, f"{name} has no example"
        assert "See Also" in value.__doc__ or name == "export", f"{name} names no other"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        supred.Nothing  # noqa: B018


def test_importing_supred_does_not_wait_for_scikit_learn():
    code = "import sys, supred; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
