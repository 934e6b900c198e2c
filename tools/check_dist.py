"""Check what `make dist` built: the contents, and the wheel in an empty environment.

    python tools/check_dist.py dist

The wheel is installed with its hard dependencies alone. Then ``import supred`` has to take less
than 0.1 s, the first example of the README has to run, and the command line has to answer.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_IMPORT_SECONDS = 0.1
# what a wheel of supred may hold beside modules
SUFFIXES = {".py", ".typed", ".html", ".css", ".js"}

IMPORT = """
import time
began = time.process_time()  # other work on the machine must not decide
import supred
print(time.process_time() - began)
"""
EXAMPLE = """
import doctest, sys
from pathlib import Path
text = Path(sys.argv[1]).read_text(encoding="utf-8")
block = text.split("```python\\n", 1)[1].split("```", 1)[0]
test = doctest.DocTestParser().get_doctest(block, {}, "README.md", sys.argv[1], 0)
result = doctest.DocTestRunner().run(test)
print(result.attempted, "lines of the README")
sys.exit(result.failed or not result.attempted)
"""


def unwanted_in_wheel(names: list[str]) -> list[str]:
    """Return the names of files that a wheel of supred must not hold.

    Parameters
    ----------
    names : list of str
        Paths inside the wheel.

    Examples
    --------
    >>> unwanted_in_wheel(["supred/__init__.py", "supred-0.1.0.dist-info/METADATA"])
    []
    >>> unwanted_in_wheel(["tests/test_docs.py", "supred/mnist.npy"])
    ['tests/test_docs.py', 'supred/mnist.npy']
    """
    return [
        name
        for name in names
        if not name.split("/")[0].endswith(".dist-info")
        and (not name.startswith("supred/") or Path(name).suffix not in SUFFIXES)
    ]


def check_contents(folder: Path) -> Path:
    """Check the files in wheel and sdist; return the wheel."""
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "supred/py.typed" in names, "the wheel is not typed"
    unwanted = unwanted_in_wheel(names)
    assert not unwanted, f"the wheel holds {unwanted[:5]}"
    with tarfile.open(sdist) as archive:
        inside = {name.split("/", 1)[-1] for name in archive.getnames()}
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "tests/test_docs.py"):
        assert name in inside, f"the sdist has no {name}"
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size // 1000} kB")
    return wheel


def check_installed(wheel: Path) -> None:
    """Install the wheel in an empty environment and use it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "Scripts" if sys.platform == "win32" else "bin", "python")

        def run(*arguments: object) -> str:
            done = subprocess.run(
                [python, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.PIPE
            )
            return done.stdout.decode()

        run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel.absolute())
        # the best of five: the first one writes the bytecode
        seconds = min(float(run("-c", IMPORT)) for _ in range(5))
        print(f"import supred: {1000 * seconds:.0f} ms")
        assert seconds < MAX_IMPORT_SECONDS, f"importing takes {seconds:.2f} s"
        print(run("-c", EXAMPLE, ROOT / "README.md").strip())
        assert "compare" in run("-m", "supred.app.cli", "--help")


def main() -> None:
    """Check the folder of wheel and sdist."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    wheel = check_contents(parser.parse_args().folder)
    check_installed(wheel)


if __name__ == "__main__":
    main()
