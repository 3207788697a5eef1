-- Nodes that are more than one command (scripts, retries with rules, many processes), groups, throttles and switches.
ALTER TABLE jobs RENAME COLUMN milestone TO kind;              -- model.states.Kind: what was 0 and 1 stays so
ALTER TABLE jobs ADD COLUMN lane BIGINT NOT NULL DEFAULT 0;    -- jobs of one lane share a throttle and named resources
ALTER TABLE jobs ADD COLUMN off INTEGER NOT NULL DEFAULT 0;    -- 1: its user has disabled it
ALTER TABLE jobs ADD COLUMN memory BIGINT NOT NULL DEFAULT 0;  -- bytes it wants
DROP INDEX jobs_eligible;
CREATE INDEX jobs_eligible ON jobs (workflow, lane, rank, arrival, job) WHERE state = 1;
CREATE INDEX jobs_aside ON jobs (workflow, job) WHERE state > 4;  -- put off, disabled: few
ALTER TABLE workflows ADD COLUMN special INTEGER NOT NULL DEFAULT 0;  -- 1: it has nodes, lanes or a final job
ALTER TABLE workflows ADD COLUMN final BIGINT;                 -- the job that runs last, whatever happened
ALTER TABLE workflows ADD COLUMN halted INTEGER NOT NULL DEFAULT 0;  -- 1: a job has ended it (ABORT-DAG-ON)
ALTER TABLE workflows ADD COLUMN returns INTEGER;              -- and this is what it then returns
ALTER TABLE workflows ADD COLUMN what_next TEXT NOT NULL DEFAULT 'fifo';  -- the policy that its ranks are from
CREATE TABLE nodes (                    -- what a job has beyond one command; most jobs have no row here
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    step INTEGER NOT NULL,              -- model.states.Step: what runs next, or runs
    begins INTEGER NOT NULL,            -- its first step
    rules TEXT,                         -- as JSON (live.rules)
    result INTEGER,                     -- how its main step ended
    pre_result INTEGER,                 -- how its PRE script ended
    not_before DOUBLE PRECISION,        -- when it may be tried again
    parts BIGINT NOT NULL,              -- processes of its own (queue N)
    parts_left BIGINT NOT NULL,         -- that have not ended
    parts_failed BIGINT NOT NULL,
    owner BIGINT,                       -- the node that this is a process of
    late BIGINT,                        -- the early release that this one comes after
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
CREATE INDEX nodes_later ON nodes (workflow, not_before) WHERE not_before IS NOT NULL;
CREATE INDEX nodes_owner ON nodes (workflow, owner) WHERE owner IS NOT NULL;
CREATE TABLE lanes (
    workflow BIGINT NOT NULL,
    lane BIGINT NOT NULL,
    category TEXT,                      -- jobs of one category, whatever their lane, share its throttle
    most BIGINT,                        -- how many of them may run at once
    named TEXT NOT NULL,                -- the named resources that each job takes, as JSON
    PRIMARY KEY (workflow, lane)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
CREATE TABLE job_groups (               -- groups of more than one job: the jobs from first to last
    workflow BIGINT NOT NULL,
    place BIGINT NOT NULL,
    path TEXT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (workflow, place)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
CREATE TABLE doubts (                   -- jobs that began on an early release whose group then failed
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    because BIGINT NOT NULL,            -- the job that failed
    PRIMARY KEY (workflow, job, because)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
ALTER TABLE attempts ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempts ADD COLUMN status TEXT;                   -- what the job says of itself (mqstatus)
ALTER TABLE attempts ADD COLUMN stop TEXT;                     -- why it is to end, if it is
