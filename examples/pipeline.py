"""A workflow in Python: samples are aligned side by side, then called together, then reported.

headway show examples/pipeline.py 4
"""

import sys

from headway import Workflow

samples = [f"sample{number}" for number in range(1, int(sys.argv[1] if len(sys.argv) > 1 else 3) + 1)]

workflow = Workflow("pipeline")
fetch = workflow.job("fetch", "./fetch.sh > genome.fa", seconds=60, retries=3, outputs=["genome.fa"])

align = workflow.group("align", after=fetch).before("mkdir -p aligned").afterwards("rm -f aligned/*.tmp")
for sample in samples:
    # The jobs of a group run in order; check runs where align ran, and nobody has to wait for it.
    one = align.group(sample)
    one.run(["./align.sh", "genome.fa", f"{sample}.fq"], cores=4, memory="8G", seconds=900, release=True)
    one.run(["./check.sh", sample], seconds=30, affinity=True)

call = workflow.job("call", "./call.sh aligned/*.bam", after=align, cores=8, time="2h", seconds=1800)
workflow.job("report", "./report.sh", after=[fetch, call], seconds=20, environment={"LANG": "C.UTF-8"})
