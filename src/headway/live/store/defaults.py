"""The default number of retries, for jobs that set none, as the user of a run wants it."""

from __future__ import annotations

from headway.engine import intake
from headway.live.store import rules as kept_rules
from headway.model.flatten import Flat
from headway.model.job import Rules
from headway.model.messages import WorkflowId
from headway.model.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store.database import Database


@record
class Defaults:
    """None: as the workflow, or an earlier run, has it."""

    retries: int | None = None
    back_off: float | None = None
    more_memory: float | None = None

    def applied(self, rules: Rules) -> Rules:
        """What a job has whose own rules are these: each default only where they say nothing.

        A sub-DAG is not tried again as a whole, since its own jobs are; its scripts are, if it has some.
        """
        if rules.subdag is not None and rules.pre is None and rules.post is None:
            return rules
        return replace(
            rules,
            retries=rules.retries or self.retries or 0,
            back_off=rules.back_off or self.back_off or 0.0,
            more_memory=rules.more_memory if rules.more_memory != 1.0 else self.more_memory or 1.0,
        )


def set_defaults(database: Database, workflow: WorkflowId, flat: Flat, defaults: Defaults) -> None:
    """Writes them beside the jobs, where they hold until another run says otherwise."""
    if defaults == Defaults():
        return
    with database.transaction():
        special = False
        for node, job in enumerate(flat.jobs):
            if job is None:
                continue
            rules = defaults.applied(job.rules)
            has_rules = intake.has_rules(rules)
            special = special or has_rules
            database.run("set_retries", workflow=workflow, job=node, retries=rules.retries, special=int(has_rules))
            if has_rules or intake.has_rules(job.rules):
                late, parts = flat.late.get(node), len(job.parts)
                database.run(
                    "set_rules",
                    workflow=workflow,
                    job=node,
                    begins=int(rules.begins),
                    rules=kept_rules.text(rules),
                    parts=parts,
                    late=late,
                )
        if special:
            database.run("set_special", workflow=workflow)
