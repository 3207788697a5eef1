from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from headway.model.dag import Dag
from headway.model.errors import HeadwayError, UsageError
from headway.policies.what_next import names, order
from tests.shell import ROOT

EXAMPLE = ROOT / "examples" / "widest-first"
FAN = "Job a x.sub\nJob b x.sub\nJob c x.sub\nJob d x.sub\nJob e x.sub\nParent a Child c\nParent b Child d e\n"


def installed(folder: Path, entries: dict[str, str], source: Path | None = None, text: str = "") -> None:
    """Lays a package out as an installer does: its module, and its .dist-info with its entry points."""
    info = folder / "some_order-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-order\nVersion: 1.0\n")
    lines = "".join(f"{name} = {target}\n" for name, target in entries.items())
    (info / "entry_points.txt").write_text(f"[headway.what_next]\n{lines}")
    if source is not None:
        (folder / source.name).write_bytes(source.read_bytes())
    else:
        (folder / "some_order.py").write_text(text)


def test_the_example_is_used_by_name_once_it_is_installed(tmp_path: Path) -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    installed(tmp_path / "site", project["entry-points"]["headway.what_next"], EXAMPLE / "widest_first.py")
    (tmp_path / "fan.dag").write_text(FAN)
    (tmp_path / "x.sub").write_text("executable = /bin/true\nqueue\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    call = [sys.executable, "-m", "headway"]
    shown = subprocess.run(
        [*call, "order", "fan.dag", "--by", "widest-first", "--json"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = json.loads(shown.stdout)
    assert answer["order"] == ["b", "a", "d", "e", "c"]
    assert answer["ranks"] == {"a": -1, "b": -2, "c": 0, "d": 0, "e": 0}
    ran = subprocess.run(
        [*call, "run", "fan.dag", "--order", "widest-first", "--json"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(ran.stdout)["done"] == 5
    simulated = subprocess.run(
        [*call, "simulate", "grid", "fan.dag", "--order", "widest-first,fifo", "--p", "3", "--q", "3", "--json"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(json.loads(simulated.stdout)["orders"]) == {"widest-first", "fifo"}


def test_an_installed_order_is_among_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, {"mine": "some_order:ranks"}, text="def ranks(dag):\n    return range(len(dag))\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert "mine" in names()
    assert order("mine")(Dag(["a", "b"], [0], [1])) == [0, 1]
    with pytest.raises(UsageError, match=r"prio.*mine"):
        order("yours")


def test_an_order_may_answer_with_numpys_numbers_and_none_takes_headways_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import numpy\ndef ranks(dag):\n    return -numpy.arange(len(dag))\n"
    installed(tmp_path, {"arrays": "some_order:ranks", "fifo": "some_order:ranks"}, text=text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_order", raising=False)
    dag = Dag(["a", "b"], [0], [1])
    assert order("arrays")(dag) == [0, -1] and list(order("fifo")(dag)) == [0, 0]
    assert names().count("fifo") == 1


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("some_order:ranks", "import nothing_like_it\n", "cannot be loaded"),
        ("some_order:rank", "", "cannot be loaded"),
        ("some_order:ranks", "ranks = 3\n", "is no function"),
        ("some_order:ranks", "def (\n", "cannot be loaded from some_order:ranks: SyntaxError"),
        ("some_order:ranks", "def ranks(dag):\n    return 1 / 0\n", "failed: ZeroDivisionError: division by zero"),
        ("some_order:ranks", "def ranks():\n    return []\n", "failed: TypeError"),
        ("some_order:ranks", "def ranks(dag):\n    return None\n", "one whole number.* for each of 2 nodes"),
        ("some_order:ranks", "def ranks(dag):\n    return [0]\n", "one whole number.* for each of 2 nodes"),
        ("some_order:ranks", "def ranks(dag):\n    return [0, 10**30]\n", "one whole number, of at most 2,147,483,646"),
        ("some_order:ranks", "def ranks(dag):\n    return ['first', 'last']\n", "one whole number.* each of 2 nodes"),
    ],
)
def test_a_broken_package_is_told_in_a_sentence(
    target: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, {"broken": target}, text=text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_order", raising=False)
    with pytest.raises(HeadwayError, match=said):
        order("broken")(Dag(["a", "b"], [0], [1]))
    sys.modules.pop("some_order", None)
