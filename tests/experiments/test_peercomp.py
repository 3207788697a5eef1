"""The evaluation of peercomp.txt, on little."""

from __future__ import annotations

import json
from pathlib import Path

from headway.experiments.peercomp.all import reproduce
from headway.experiments.peercomp.measuring import Plan, width

LITTLE = Plan("quick", 16, 0.15, 2, (16, 32))


def test_the_whole_report_on_little(tmp_path: Path) -> None:
    steps: list[float] = []
    report = reproduce(LITTLE, tmp_path, None, steps.append, steps.append)
    claims = {claim.id: claim for claim in report.claims}
    assert claims["table-1"].holds and claims["widths"].holds and claims["no-misses"].holds
    assert claims["million"].holds is None
    text = (tmp_path / "report.md").read_text()
    assert "Nothing here was measured at one million nodes" in text and (tmp_path / "figure-6.svg").exists()
    found = json.loads((tmp_path / "report.json").read_text())
    assert len(found["table_2"]) == 8 and len(found["others"]) == 7 and sum(steps) > 0


def test_widths_of_the_papers_models() -> None:
    assert [width("fork-join", size) for size in (2, 8, 50)] == [2, 2, 2]
    assert [width("laplace", size) for size in (3, 4, 10)] == [3, 5, 17]
