from __future__ import annotations

import pytest

from headway.model.errors import InputError
from headway.model.site import Program, Site
from headway.sim.site_file import parse
from headway.sim.site_work import Transfers
from headway.sim.sites import Load, Place, World

WHOLE = """
planning = "1s"
spread = 0.1
latency = 30
stored = ["genome"]

[transfers]
seconds = 2
bandwidth = "1M"

[load]
high = 0.5
full = 0.1
spell = "1h"

[sites.uc]
processors = 110
memory = "2G"
named = { gpu = 2 }
files = ["index"]
latency = 5
speed = 2
transfer = 0.5
failing = 0.25
fails_after = "1m"

[sites.uc.programs]
blast = "/opt/blast"
bwa = { path = "/opt/bwa", environment = { THREADS = 4 } }

[sites.uc.load]
low = 0.2

[sites."far away"]
processors = 6
up = false
programs = {}
"""


def test_a_whole_file_is_read() -> None:
    programs = (Program("blast", "/opt/blast"), Program("bwa", "/opt/bwa", (("THREADS", "4"),)))
    uc = Site("uc", 110, True, programs, 2 * 2**30, (("gpu", 2),), ("index",))
    assert parse(WHOLE, "sites.toml") == World(
        (
            Place(uc, Load(0.2, 0.5, 0.1, 3600.0), 5.0, 2.0, 0.5, 0.25, 60.0),
            Place(Site("far away", 6, False, ()), Load(0.0, 0.5, 0.1, 3600.0), 30.0),
        ),
        1.0,
        0.1,
        Transfers(2.0, 2.0**20),
        ("genome",),
    )


def test_a_site_needs_no_more_than_processors() -> None:
    assert parse("[sites]\na = { processors = 3 }\n", "s.toml") == World((Place(Site("a", 3)),))


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "there is no site"),
        ("[sites]\n", 1, "there is no site"),
        ("[sites.a\n", 1, "this is not TOML"),
        ("planing = 1\n[sites.a]\nprocessors = 1\n", 1, 'unknown key "planing"'),
        ("[sites.b]\nprocessors = 1\n[sites.a]\nprocessors = 1\ncolour = 3\n", 5, 'unknown key "colour" of sites.a'),
        ("[sites.a]\nprocessors = 0\n", 2, "has 0 processors"),
        ("[sites.a]\nprocessors = -4\n", 2, "has -4 processors"),
        ("[sites.a]\nprocessors = true\n", 2, "has true processors"),
        ('[sites.a]\nprocessors = "many"\n', 2, 'has "many" processors'),
        ("[sites.a]\nup = true\n", 1, "tells no number of processors"),
        ("sites = 3\n", 1, "there is no site"),
        ("[sites]\na = 3\n", 2, 'site "a" is no table'),
        ("[sites.a]\nprocessors = 1\nup = 1\n", 3, "up of site"),
        ("[sites.a]\nprocessors = 1\nlatency = -1\n", 3, "latency is -1: a time cannot be negative"),
        ("[sites.a]\nprocessors = 1\nlatency = inf\n", 3, "latency is inf"),
        ("[sites.a]\nprocessors = 1\nlatency = nan\n", 3, "latency is nan"),
        ('[sites.a]\nprocessors = 1\nlatency = "soon"\n', 3, 'latency is "soon": that is no time'),
        ("planning = -0.5\n[sites.a]\nprocessors = 1\n", 1, "planning is -0.5: a time cannot be negative"),
        ("[sites.a]\nprocessors = 1\nspeed = 0\n", 3, "speed is 0"),
        ("[sites.a]\nprocessors = 1\nfailing = 1.5\n", 3, "failing is 1.5"),
        ("[sites.a]\nprocessors = 1\nmemory = -1\n", 3, "memory is -1"),
        ('[sites.a]\nprocessors = 1\nnamed = { gpu = "x" }\n', 3, "named of site"),
        ("[sites.a]\nprocessors = 1\nfiles = [3]\n", 3, "files is no list of names"),
        ("[sites.a]\nprocessors = 1\nprograms = 3\n", 3, "programs is no table"),
        ("[sites.a]\nprocessors = 1\n[sites.a.programs]\nblast = 3\n", 4, 'program "blast" is 3'),
        ("[sites.a]\nprocessors = 1\n[sites.a.load]\nfull = 2\n", 4, "full is 2"),
        ("[sites.a]\nprocessors = 1\n[sites.a.load]\nfull = 0.5\n", 3, "needs a spell"),
        ("[sites.a]\nprocessors = 1\nload = 3\n", 3, "load is no table"),
        ("[sites.a]\nprocessors = 1\n[sites.a.load]\nlow = 1.0\n", 3, "low < 1"),
        ("[transfers]\nspeed = 1\n[sites.a]\nprocessors = 1\n", 2, 'unknown key "speed" of transfers'),
        ('[transfers]\nbandwidth = "fast"\n[sites.a]\nprocessors = 1\n', 2, 'bandwidth is "fast"'),
        ("spread = -1\n[sites.a]\nprocessors = 1\n", 1, "spread is -1"),
        (f"[sites.a]\nprocessors = 1\nlatency = {'9' * 400}\n", 3, "9…: that is no time"),
        (f"spread = {'9' * 400}\n[sites.a]\nprocessors = 1\n", 1, "9…. Expected a share"),
        (f"[sites.a]\nprocessors = {'9' * 400}\n", 2, "9… processors"),
        (f"latency = {'9' * 5000}\n[sites.a]\nprocessors = 1\n", 1, "thousands of digits"),
        (f"stored = {'[' * 5000}\n", 1, "nested too deep"),
        ("[sites.a]\nprocessors = 1\nlatency = 1979-05-27\n", 3, "latency is 1979-05-27: that is no time"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(InputError) as error:
        parse(text, "sites.toml")
    assert said in str(error.value) and error.value.line == line, str(error.value)
