"""What `from headway import …` promises."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest

import headway


def test_every_public_name_is_there() -> None:
    found: dict[str, Any] = {}
    exec("from headway import *", found)
    assert set(headway.__all__) <= set(found)
    assert all(getattr(headway, name) is found[name] for name in headway.__all__)


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'headway' has no attribute 'nothing'"):
        headway.nothing  # noqa: B018


def test_the_version_is_that_of_the_installed_package() -> None:
    assert headway.__version__ == version("headway")


def test_importing_headway_imports_nothing_else_of_it() -> None:
    asked = "import sys, headway; print([name for name in sys.modules if name.startswith('headway.')])"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_workflow_built_with_the_public_names_becomes_a_dag() -> None:
    workflow = headway.Workflow("tea")
    boil = workflow.job("boil", "kettle", seconds=180)
    workflow.job("steep", "wait 240", after=boil, seconds=240)
    flat = headway.flatten(workflow)
    assert isinstance(flat.dag, headway.Dag)
    assert flat.dag.critical_path.seconds == 420
    with pytest.raises(headway.HeadwayError):
        workflow.job("boil", "kettle")
