-- Written by scripts/whole-schema: what the migrations make up to number 9
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE workflows (
    id INTEGER PRIMARY KEY,
    arrivals BIGINT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    directory TEXT NOT NULL,
    digest TEXT NOT NULL,
    submitted DOUBLE PRECISION NOT NULL
, special INTEGER NOT NULL DEFAULT 0, final BIGINT, halted INTEGER NOT NULL DEFAULT 0, returns INTEGER, what_next TEXT NOT NULL DEFAULT 'fifo', owner TEXT NOT NULL DEFAULT '', follows BIGINT NOT NULL DEFAULT 0, exported TEXT NOT NULL DEFAULT '');
CREATE TABLE jobs (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    rank BIGINT NOT NULL,
    arrival BIGINT NOT NULL,
    waiting_for BIGINT NOT NULL,
    tries BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    retries BIGINT NOT NULL,
    lease BIGINT,
    cores BIGINT NOT NULL, lane BIGINT NOT NULL DEFAULT 0, off INTEGER NOT NULL DEFAULT 0, memory BIGINT NOT NULL DEFAULT 0, changed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE INDEX jobs_running ON jobs (workflow, job) WHERE state = 2;
CREATE TABLE specs (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    name TEXT NOT NULL,
    time DOUBLE PRECISION,
    seconds DOUBLE PRECISION,
    spec TEXT NOT NULL,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE TABLE arcs (
    workflow BIGINT NOT NULL,
    parent BIGINT NOT NULL,
    child BIGINT NOT NULL,
    weak INTEGER NOT NULL,
    PRIMARY KEY (workflow, parent, child)
) WITHOUT ROWID;
CREATE TABLE placeholders (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    pid BIGINT NOT NULL,
    started DOUBLE PRECISION NOT NULL,
    beat DOUBLE PRECISION NOT NULL,
    ended DOUBLE PRECISION
, since DOUBLE PRECISION NOT NULL DEFAULT 0, patience DOUBLE PRECISION NOT NULL DEFAULT 120, site TEXT NOT NULL DEFAULT 'local', home TEXT NOT NULL DEFAULT '');
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    number BIGINT NOT NULL,
    placeholder BIGINT NOT NULL,
    leased DOUBLE PRECISION NOT NULL,
    started DOUBLE PRECISION,
    ended DOUBLE PRECISION,
    exit_code INTEGER,
    max_rss BIGINT,
    cpu_seconds DOUBLE PRECISION,
    reason TEXT
, step INTEGER NOT NULL DEFAULT 0, status TEXT, stop TEXT, tail TEXT);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    time DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL,
    workflow BIGINT,
    job BIGINT,
    text TEXT NOT NULL
);
CREATE INDEX jobs_eligible ON jobs (workflow, lane, rank, arrival, job) WHERE state = 1;
CREATE INDEX jobs_aside ON jobs (workflow, job) WHERE state > 4;
CREATE TABLE nodes (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    step INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    rules TEXT,
    result INTEGER,
    pre_result INTEGER,
    not_before DOUBLE PRECISION,
    parts BIGINT NOT NULL,
    parts_left BIGINT NOT NULL,
    parts_failed BIGINT NOT NULL,
    owner BIGINT,
    late BIGINT,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE INDEX nodes_later ON nodes (workflow, not_before) WHERE not_before IS NOT NULL;
CREATE INDEX nodes_owner ON nodes (workflow, owner) WHERE owner IS NOT NULL;
CREATE TABLE lanes (
    workflow BIGINT NOT NULL,
    lane BIGINT NOT NULL,
    category TEXT,
    most BIGINT,
    named TEXT NOT NULL,
    PRIMARY KEY (workflow, lane)
) WITHOUT ROWID;
CREATE TABLE job_groups (
    workflow BIGINT NOT NULL,
    place BIGINT NOT NULL,
    path TEXT NOT NULL,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (workflow, place)
) WITHOUT ROWID;
CREATE TABLE doubts (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    because BIGINT NOT NULL,
    PRIMARY KEY (workflow, job, because)
) WITHOUT ROWID;
CREATE UNIQUE INDEX workflows_once ON workflows (source, owner, follows);
CREATE TABLE wanted (
    workflow BIGINT NOT NULL,
    site TEXT NOT NULL,
    PRIMARY KEY (workflow, site)
) WITHOUT ROWID;
CREATE TABLE files (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    outputs TEXT NOT NULL,
    inputs TEXT NOT NULL,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE TABLE allocations (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    cores BIGINT NOT NULL,
    seconds BIGINT NOT NULL,
    state INTEGER NOT NULL,
    asked DOUBLE PRECISION NOT NULL,
    queue_id TEXT,
    began DOUBLE PRECISION,
    ended DOUBLE PRECISION,
    reason TEXT,
    token TEXT NOT NULL,
    instance TEXT
, nodes BIGINT NOT NULL DEFAULT 1);
CREATE INDEX allocations_open ON allocations (site) WHERE ended IS NULL;
CREATE TABLE affinities (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    after BIGINT NOT NULL,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE TABLE work (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    program TEXT NOT NULL,
    bytes BIGINT,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE TABLE expected (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    site TEXT NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (workflow, job, site)
) WITHOUT ROWID;
CREATE TABLE callers (
    placeholder BIGINT PRIMARY KEY,
    sched TEXT NOT NULL,
    sched_id TEXT NOT NULL,
    submit_host TEXT NOT NULL,
    slot TEXT NOT NULL,
    patience DOUBLE PRECISION NOT NULL,
    missing BIGINT NOT NULL,
    looked DOUBLE PRECISION NOT NULL
);
CREATE INDEX callers_id ON callers (sched_id);
CREATE INDEX placeholders_there ON placeholders (id) WHERE ended IS NULL;
CREATE TABLE attributes (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    pairs TEXT NOT NULL,
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
