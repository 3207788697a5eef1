# examples/pipeline.py: reads of some samples are found in a genome side by side, then put together and counted.
import sys

from headway import Workflow

samples = range(1, 1 + int(sys.argv[1] if len(sys.argv) > 1 else 3))
letters = """awk 'BEGIN { srand(1); while (n++ < 9999) printf substr("ACGT", 1 + 4 * rand(), 1) }'"""

workflow = Workflow("pipeline")
fetch = workflow.job("fetch", f"mkdir -p out && {letters} > out/genome", seconds=60, retries=3, outputs=["out/genome"])

align = workflow.group("align", after=fetch).before("mkdir -p out/aligned").afterwards("rm -f out/aligned/*.tmp")
for number in samples:
    # The jobs of a group run in order; the check runs where its sample was aligned, and nobody has to wait for it.
    one = align.group(f"sample{number}")
    file = f"out/aligned/sample{number}"
    cut = f"cut -c {number}00-{number}40 out/genome > {file}.tmp"
    one.run(f"{cut} && grep -ob -f {file}.tmp out/genome > {file}", cores=2, memory="1G", seconds=900, release=True)
    one.run(["grep", "-q", ":", file], seconds=30, affinity=True)

call = workflow.job("call", "sort -n out/aligned/*[0-9] > out/calls", after=align, cores=2, time="2h", seconds=1800)
workflow.job("report", "wc -l < out/calls > out/report", after=[fetch, call], seconds=20, environment={"LANG": "C"})
