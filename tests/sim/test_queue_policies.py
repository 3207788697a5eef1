"""Policies of queues as files: those of the paper, and what is wrong in one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.model.errors import HeadwayError, InputError, UsageError
from headway.sim.queue_policies import NAMES, policy
from headway.sim.queue_policies import parse as parse_policy
from tests.shell import ROOT


def test_the_policies_of_the_paper_are_files_that_a_user_can_copy(tmp_path: Path) -> None:
    for name in NAMES:
        source = ROOT / "src/headway/sim/queue_policies" / f"{name}.toml"
        (tmp_path / f"my-{name}.toml").write_text(source.read_text())
        mine, theirs = policy(str(tmp_path / f"my-{name}.toml")), policy(name)
        assert mine.name == f"my-{name}"
        assert (mine.percent, mine.cap, mine.hour, mine.fair_share) == (
            theirs.percent, theirs.cap, theirs.hour, theirs.fair_share,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[size\n", "mine.toml:1: is no TOML"),
        ("[size]\n\n[sise]\na = 1\n", 'mine.toml:3: "sise" is no section. There are size, wait'),
        ("[size]\npercnt = 1\n", 'mine.toml:2: "percnt" is no key of size. There are percent, cap'),
        ("[wait]\nhour = -1\n", "mine.toml:2: who waits must not lose points"),
        ("[wait]\nhour = true\n", "mine.toml:2: hour is no number"),
        ("[fair_share]\ninterval = 'often'\n", "mine.toml:2: interval is not a duration"),
        ("[fair_share]\ndepth = 0\n", "mine.toml:1: fair_share needs"),
        ("[fair_share]\ndepth = 1e300\n", "mine.toml:2: depth is too large"),
        ("[fair_share]\ndepth = 1001\n", "mine.toml:1: fair_share needs"),
        ("[size]\npercent = inf\n", "mine.toml:2: percent is too large. Give 1,000,000,000 points at most"),
        ("[size]\npercent = 1" + "0" * 400 + "\n", "percent is too large"),
        ("[size]\npercent = 1" + "0" * 5000 + "\n", "mine.toml:1: is no TOML"),
        ("[size]\npercent = " + "[" * 5000 + "\n", "mine.toml:1: is no TOML"),
        ("[size]\ncap = -5\n", "mine.toml:2: cap is the most"),
        ("[wait]\nhour = inf\n", "mine.toml:2: hour is too large"),
        ("[wait]\nhour = nan\n", "mine.toml:2: hour is no number"),
        ("[backfill]\nbeside = 1\n", "beside is neither true nor false"),
    ],
)
def test_what_is_wrong_in_a_policy_is_named_by_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_policy("mine.toml", text, "mine")


def test_a_policy_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no queue policy .*There are FCFS, FL, FS"):
        policy("LIFO")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HeadwayError, match="cannot be read"):
        policy(str(tmp_path / "binary.toml"))
