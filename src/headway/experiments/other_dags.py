"""The dags of the papers on peers, on opportunistic sites and on batch queues; tags as in `paper_dags`."""

from __future__ import annotations

import math
import random
from collections import Counter

from headway.experiments.named_dag import PaperDag
from headway.experiments.prio_dags import overlaps_of


def fork_join(width: int = 8) -> PaperDag:
    """1 + width + 1 unit tasks.  Width 8: 10 tasks over a path of 3 = 3.33, the
    paper's maximum speed-up 3.3 [S for the ratio, D for the width]."""
    g = PaperDag(f"forkjoin-{width}")
    a = g.job("fork")
    mid = [g.job(f"t{i:03d}") for i in range(width)]
    z = g.job("join")
    for m in mid:
        g.arc(a, m)
        g.arc(m, z)
    return g


def laplace(side: int = 3) -> PaperDag:
    """side x side diamond; task (r,c) feeds (r+1,c) and (r,c+1).  Side 3: 9 tasks
    over a path of 5 = 1.8, the paper's maximum speed-up [S for the ratio, D]."""
    g = PaperDag(f"laplace-{side}")
    for r in range(side):
        for c in range(side):
            g.job(f"t{r:02d}_{c:02d}")
    for r in range(side):
        for c in range(side):
            if r + 1 < side:
                g.arc(f"t{r:02d}_{c:02d}", f"t{r + 1:02d}_{c:02d}")
            if c + 1 < side:
                g.arc(f"t{r:02d}_{c:02d}", f"t{r:02d}_{c + 1:02d}")
    return g


def pipeline(width: int = 100) -> PaperDag:
    """opportunistic.txt: `width` independent pipelines P1 -> P2 -> P3 (300 jobs [S]); run
    times 300/120/60 s, transfers 17/27/13 s, every file 1 MB [S].  info["files"]:
    job -> (inputs, outputs); D1 is one file read by all P1 and P2 [S]."""
    g = PaperDag(f"pipeline-{width}")
    files = {}
    for st, sec in (("P1", 300), ("P2", 120), ("P3", 60)):
        for i in range(width):
            g.job(f"{st}_{i:03d}", sec)
    for i in range(width):
        g.arc(f"P1_{i:03d}", f"P2_{i:03d}")
        g.arc(f"P2_{i:03d}", f"P3_{i:03d}")
        files[f"P1_{i:03d}"] = (["D1", f"D2_{i:03d}"], [f"D3_{i:03d}"])
        files[f"P2_{i:03d}"] = ([f"D3_{i:03d}", "D1", f"D4_{i:03d}"], [f"D5_{i:03d}"])
        files[f"P3_{i:03d}"] = ([f"D5_{i:03d}"], [f"D6_{i:03d}"])
    g.info = {"files": files, "file_bytes": 1_000_000, "transfer_s": {"P1": 17, "P2": 27, "P3": 13}}
    return g


def eman(width: int) -> PaperDag:
    """1 -> width -> 1 -> width -> 1, five levels [S, Fig. 7a]."""
    g = PaperDag(f"eman-{width}")
    prev = [g.job("s1")]
    for st, w in (("p2", width), ("s3", 1), ("p4", width), ("s5", 1)):
        cur = [g.job(f"{st}_{i:03d}") for i in range(w)]
        for a in prev:
            for b in cur:
                g.arc(a, b)
        prev = cur
    return g


def blast(width: int, stages: int = 4) -> PaperDag:
    """split -> width chains of `stages` -> merge, six levels [Fig. 7b: chunk,
    record, BLAST mapper, part]."""
    g = PaperDag(f"blast-{width}")
    s = g.job("split")
    ends = []
    for i in range(width):
        p = s
        for k in range(stages):
            q = g.job(f"c{k}_{i:03d}")
            g.arc(p, q)
            p = q
        ends.append(p)
    m = g.job("merge")
    for e in ends:
        g.arc(e, m)
    return g


def montage7(images: int, overlaps: int, seed: int = 1) -> PaperDag:
    """Seven levels as drawn in Fig. 7c: project, difffit, concat, bgmodel,
    background (also child of project), imgtbl, add (also child of background)."""
    g = PaperDag(f"montage-{images}-{overlaps}")
    pr = [g.job(f"project_{i:03d}") for i in range(images)]
    df = [g.job(f"difffit_{i:03d}") for i in range(overlaps)]
    c, m = g.job("concatfit"), g.job("bgmodel")
    bg = [g.job(f"background_{i:03d}") for i in range(images)]
    t, a = g.job("imgtbl"), g.job("add")
    for k, (i, j) in enumerate(overlaps_of(images, overlaps, seed)):
        g.arc(pr[i], df[k])
        g.arc(pr[j], df[k])
        g.arc(df[k], c)
    g.arc(c, m)
    for i in range(images):
        g.arc(pr[i], bg[i])
        g.arc(m, bg[i])
        g.arc(bg[i], t)
        g.arc(bg[i], a)
    g.arc(t, a)
    return g


def fft(points: int) -> PaperDag:
    """Topcuoglu's FFT graph [Fig. 7e]: 2p-1 recursive tasks + p*log2 p butterflies;
    2*log2(p)+1 levels; p = 4 is the figure (15 tasks)."""
    k = points.bit_length() - 1
    assert 1 << k == points
    g = PaperDag(f"fft-{points}")
    for lv in range(k + 1):
        for i in range(1 << lv):
            g.job(f"r{lv}_{i:03d}")
    for lv in range(k):
        for i in range(1 << lv):
            g.arc(f"r{lv}_{i:03d}", f"r{lv + 1}_{2 * i:03d}")
            g.arc(f"r{lv}_{i:03d}", f"r{lv + 1}_{2 * i + 1:03d}")
    prev = [f"r{k}_{i:03d}" for i in range(points)]
    for st in range(k):
        cur = [g.job(f"b{st}_{i:03d}") for i in range(points)]
        for i in range(points):
            g.arc(prev[i], cur[i])
            g.arc(prev[i ^ (1 << st)], cur[i])
        prev = cur
    return g


def gauss(n: int) -> PaperDag:
    """Gaussian elimination of an n x n matrix [Fig. 7d is n = 5, 14 tasks]:
    pivot T(k,k) -> updates T(k,j), j>k; T(k,k+1) -> T(k+1,k+1); T(k,j) -> T(k+1,j).
    (n^2+n-2)/2 tasks, 2(n-1) levels, parallelism n-1: n = 56 gives the paper's
    parallelism 55 and "over 100 levels" (110) [S, D]."""
    g = PaperDag(f"gauss-{n}")
    for k in range(1, n):
        g.job(f"t{k:02d}_{k:02d}")
        for j in range(k + 1, n + 1):
            g.job(f"t{k:02d}_{j:02d}")
    for k in range(1, n):
        for j in range(k + 1, n + 1):
            g.arc(f"t{k:02d}_{k:02d}", f"t{k:02d}_{j:02d}")
            if k + 1 < n:
                g.arc(f"t{k:02d}_{j:02d}", f"t{k + 1:02d}_{max(j, k + 1):02d}")
    return g


def set_runtimes(
    g: PaperDag,
    usage_cpu_h: float,
    jitter: float = 0.2,
    seed: int = 0,
    max_hours: float = 140.0,
    min_hours: float = 2.0,
    serial: float = 1.65,
) -> PaperDag:
    """Give every task the same mean run time t with a +-jitter spread, `serial` times
    t for tasks alone on their level, such that (maximum parallelism) * (elapsed) =
    usage_cpu_h CPU hours, i.e. what the 'giant' placeholder uses, limited to 2 h ..
    140 h (up to a week once the jitter is added).  [A]; `serial` is calibrated so that
    giant/individual CPU use over the 125 dags is the paper's Fig. 13 ratio (2.91-2.95
    on every cluster).  Fig. 13 also implies a per-cluster speed factor: relative run
    times 1 on Lonestar and Star, 1.43 on Ada, 1.93 on LeMieux, 1.99 on RTC [D]."""
    lev = dict(zip(g.jobs, g.dag().level_of, strict=True))
    per = Counter(lev.values())
    width = max(per.values())
    units = sum(serial if n == 1 else 1.0 for n in per.values())
    hours = min(max_hours, max(min_hours, usage_cpu_h / width))
    rnd = random.Random(seed)
    t = hours * 3600 / units
    g.runtime = {
        j: round(t * (serial if per[lev[j]] == 1 else 1.0) * rnd.uniform(1 - jitter, 1 + jitter), 1) for j in g.jobs
    }
    return g


def paper004_configs() -> dict[str, list[PaperDag]]:
    """family -> 25 dags with run times.  Widths 5..256, dozens to thousands of
    tasks, elapsed 2 h to a week, about 30% of the dags wider than 128 [all S];
    the particular ladders are [A] except gauss n = 8, 10 .. 56 [D]."""
    # CPU-hour ladder of the giant placeholder, 118..1300, decorrelated from width
    ladder = [118 * (1300 / 118) ** (((7 * i + 24) % 25) / 24) for i in range(25)]
    out = {}
    widths = [5, 8] + [16 + 240 * i // 22 for i in range(23)]  # 5 .. 256
    out["EMAN"] = [eman(w) for w in widths]
    out["BLAST"] = [blast(w) for w in widths]
    mont = []
    for i in range(25):
        n = 9 + round(75 * (i / 24) ** 1.6)  # 9 .. 84
        side = math.ceil(math.sqrt(n))
        base = sum(1 for k in range(n - 1) if (k + 1) % side) + max(0, n - side)
        mont.append(montage7(n, min(256, max(base, round(3.05 * n)))))
    out["Montage"] = mont
    out["FFT"] = [fft(1 << k) for k in (4, 5, 6, 7, 8) for _ in range(5)]
    out["Gauss"] = [gauss(n) for n in range(8, 57, 2)]
    for fam in out.values():
        for i, g in enumerate(fam):
            set_runtimes(g, ladder[i], seed=i)
            g.name += f"-c{i:02d}"
    return out
