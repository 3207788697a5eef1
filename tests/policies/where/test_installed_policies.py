from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from headway.model.errors import HeadwayError, UsageError
from headway.policies.where import names, where
from tests.policies.where.views import view


def installed(folder: Path, entries: dict[str, str], text: str) -> None:
    """Lays a package out as an installer does."""
    info = folder / "some_site-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-site\nVersion: 1.0\n")
    lines = "".join(f"{name} = {target}\n" for name, target in entries.items())
    (info / "entry_points.txt").write_text(f"[headway.where]\n{lines}")
    (folder / "some_site.py").write_text(text)


def test_an_installed_policy_is_used_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def choose(view, now, rng):\n    return view.candidates[-1]\n"
    installed(tmp_path, {"mine": "some_site:choose", "random": "some_site:choose"}, text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_site", raising=False)
    assert names()[-1] == "mine" and names().count("random") == 1
    assert where("mine")(view((0, 0), (0, 0), (0, 0), candidates=[0, 1]), 0.0, Random(0)) == 1
    with pytest.raises(UsageError, match=r"no policy \"yours\".*opportunistic.*mine"):
        where("yours")
    sys.modules.pop("some_site", None)


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("some_site:choose", "import nothing_like_it\n", "cannot be loaded"),
        ("some_site:choose", "choose = 3\n", "is no function"),
        ("some_site:choose", "def choose(view, now, rng):\n    return 1 / 0\n", "failed: ZeroDivisionError"),
        ("some_site:choose", "def choose(view, now, rng):\n    return None\n", "one of the candidates"),
        ("some_site:choose", "def choose(view, now, rng):\n    return 0\n", "one of the candidates"),
    ],
)
def test_a_broken_package_is_told_in_a_sentence(
    target: str, text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, {"broken": target}, text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_site", raising=False)
    with pytest.raises(HeadwayError, match=said):
        where("broken")(view((0, 0), (0, 0), candidates=[1]), 0.0, Random(0))
    sys.modules.pop("some_site", None)
