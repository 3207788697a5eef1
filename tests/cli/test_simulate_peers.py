from __future__ import annotations

import jsonschema

from tests.shell import answer, headway

NUMBER, PARTS = {"type": "number"}, ("p50", "p90", "p99", "max")
PEERS = {
    "type": "object",
    "required": [
        "schema", "simulator", "nodes", "accepted", "rejected", "missed", "speedup", "allocation_seconds",
        "events_per_node_second", "bytes_out", "bytes_in", "seconds", "peak_rss",
    ],
    "properties": {
        "schema": {"const": 1},
        "simulator": {"enum": ["messages", "kernel"]},
        "allocation_seconds": {"type": "object", "required": [*PARTS], "additionalProperties": NUMBER},
        "events_per_node_second": {"type": "object", "required": ["mean", "max"]},
        "bytes_out": {"type": "object", "required": ["p75", "p99", "max"], "additionalProperties": NUMBER},
        "bytes_in": {"type": "object", "required": ["p75", "p99", "max"], "additionalProperties": NUMBER},
        "speedup": NUMBER,
        "missed": {"const": 0},
    },
}  # fmt: skip


def test_the_json_answer_keeps_its_schema() -> None:
    found = answer("simulate", "peers", "--nodes", "30", "--model", "laplace", "--hours", "0.2")
    jsonschema.validate(found, PEERS)
    assert (found["nodes"], found["model"], found["size"], found["update_period"]) == (30, "laplace", 3, 1)


def test_the_kernel_answers_with_the_same_keys_and_some_more() -> None:
    words = ("simulate", "peers", "--nodes", "30", "--hours", "0.2", "--update-period", "2s")
    slow, quick = answer(*words), answer(*words, "--simulator", "kernel")
    jsonschema.validate(quick, PEERS)
    assert (slow["simulator"], quick["simulator"]) == ("messages", "kernel")
    assert slow.keys() <= quick.keys() and quick.keys() - slow.keys() == {"levels", "only_counted", "too_late"}
    assert [one["level"] for one in quick["levels"]] == [0, 1, 2, 3]
    same = ("submitted", "accepted", "rejected", "missed")
    assert [slow[key] for key in same] == [quick[key] for key in same]


def test_people_are_told_what_became_of_the_workflows() -> None:
    done = headway("simulate", "peers", "--nodes", "20", "--hours", "0.2", "--update-period", "2s", "--refresh", "30s")
    assert done.returncode == 0 and "0 deadlines missed" in done.stdout and "tree        whole" in done.stdout


def test_people_are_told_what_the_kernel_counts_and_does_not_run() -> None:
    words = ("simulate", "peers", "--nodes", "20", "--hours", "0.2")
    assert "greetings and statuses that are counted and not run" in headway(*words, "--simulator", "kernel").stdout
    assert "counted and not run" not in headway(*words).stdout


def test_what_cannot_be_is_refused_before_anything_is_simulated() -> None:
    for words, said in (
        (("--nodes", "0"), "a grid of no nodes"),
        (("--least-power", "0"), "no power"),
        (("--priority", "50"), "Give less than --priority 10"),
        (("--hours", "1e-9"), "not between a millisecond and ten years"),
        (("--load", "inf"), "Give at most --load 100"),
        (("--nodes", "1000000", "--churn", "0.1"), "with churn there is no other way"),
        (("--nodes", "0", "--simulator", "kernel"), "a grid of no nodes"),
        (("--update-period", "soon"), 'update-period "soon" is no time'),
    ):
        done = headway("simulate", "peers", *words)
        assert done.returncode == 2 and said in done.stderr
