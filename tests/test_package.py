"""Three packages of common names: nobody else's may answer in their place."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from importlib.resources import files
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent
PACKAGES = ["derive", "formulas", "solvers"]


@pytest.mark.parametrize("intruder", ["formulas", "solvers"])
def test_an_intruder_is_named_beside_where_ours_is(intruder: str, tmp_path: Path) -> None:
    """Another distribution's package of the same name stands first on the path."""
    (tmp_path / intruder).mkdir()
    (tmp_path / intruder / "__init__.py").write_text("")
    path = os.pathsep.join((str(tmp_path), str(HOME)))
    run = subprocess.run(
        [sys.executable, "-c", "import derive"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert str(tmp_path / intruder / "__init__.py") in run.stderr
    assert str(HOME / "derive") in run.stderr
    assert "clean environment" in run.stderr


def test_the_wheel_holds_the_three_packages_and_nothing_else() -> None:
    project = tomllib.loads((HOME / "pyproject.toml").read_text())
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == PACKAGES
    assert "Private :: Do Not Upload" in project["project"]["classifiers"]


def test_no_other_distribution_owns_the_names_here() -> None:
    owners = packages_distributions()
    for name in PACKAGES:
        assert set(owners.get(name, ["derive-llm"])) == {"derive-llm"}


def test_no_test_folder_is_named_after_a_package() -> None:
    assert not [name for name in PACKAGES if (HOME / "tests" / name).exists()]


@pytest.mark.parametrize("name", ["gpus", "mig", "links", "models", "numbers"])
def test_data_travels_with_the_package(name: str) -> None:
    assert files("formulas").joinpath("data", f"{name}.toml").is_file()


@pytest.mark.parametrize("name", PACKAGES)
def test_types_travel_with_the_package(name: str) -> None:
    assert files(name).joinpath("py.typed").is_file()


def test_the_top_level_is_as_prescribed() -> None:
    """Dot files aside, nothing else is tracked."""
    run = subprocess.run(["git", "ls-files"], cwd=HOME, capture_output=True, text=True, check=False)
    tops = {line.partition("/")[0] for line in run.stdout.splitlines()}
    allowed = {"pyproject.toml", "README.md", "derive", "formulas", "solvers", "tests", "examples"}
    assert {top for top in tops if not top.startswith(".")} <= allowed
