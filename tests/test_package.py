"""The package as a whole: what it exports and what importing it costs."""

import subprocess
import sys

import pytest

import supred


def test_every_public_name_can_be_imported_and_has_an_example():
    for name in supred.__all__:
        value = getattr(supred, name)
        if name != "__version__":
            assert ">>>" in value.__doc__, f"{name} has no example"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        supred.Nothing  # noqa: B018


def test_importing_supred_does_not_wait_for_scikit_learn():
    code = "import sys, supred; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
