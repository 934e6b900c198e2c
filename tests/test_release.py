"""What a release says of itself agrees, and its wheel would hold what it should."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import supred

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    version = supred.__version__
    assert re.search(r"^version: (.+)$", text_of("CITATION.cff"), re.MULTILINE)[1] == version
    assert re.search(r'version = "(.+)"', text_of("recipe/meta.yaml"))[1] == version
    assert f"\n## {version}" in text_of("CHANGELOG.md")


def test_the_recipe_has_the_dependencies_of_the_project():
    recipe = text_of("recipe/meta.yaml").split("  run:\n")[1].split("  run_constrained:")[0]
    listed = {line.strip("- ").replace(" ", "") for line in recipe.splitlines()}
    wanted = {"python" + PROJECT["project"]["requires-python"], *PROJECT["project"]["dependencies"]}
    assert listed == wanted


def test_workflows_call_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    called = set()
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in re.findall(r"\bmake ([a-z -]+)", file.read_text(encoding="utf-8")):
            called.update(line.split())
    assert called >= {"test", "lint", "types", "imports", "docs", "dist"}
    assert called <= targets


def test_workflows_are_yaml_with_jobs():
    yaml = pytest.importorskip("yaml")
    files = sorted((ROOT / ".github").rglob("*.yml"))
    assert len(files) > 3
    for file in files:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
        if file.parent.name == "workflows":
            assert all("runs-on" in job for job in content["jobs"].values()), file.name


def test_hooks_have_the_ruff_of_the_project():
    pinned = next(
        requirement.removeprefix("ruff==")
        for requirement in PROJECT["project"]["optional-dependencies"]["dev"]
        if requirement.startswith("ruff")
    )
    hooks = text_of(".pre-commit-config.yaml")
    assert f"ruff-pre-commit\n    rev: v{pinned}\n" in hooks


def test_a_wheel_holds_modules_of_supred_alone():
    unwanted = runpy.run_path(str(ROOT / "tools" / "check_dist.py"))["unwanted_in_wheel"]
    wanted = ["supred/__init__.py", "supred/py.typed", "supred-0.1.0.dist-info/METADATA"]
    others = ["tests/test_docs.py", "supred/mnist.npy", "reproduction/__main__.py"]
    assert unwanted(wanted + others) == others
