-- The jobs database. The store is the truth: whatever is killed, what is written here holds.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);  -- id: the mark that this store's jobs carry
CREATE TABLE workflows (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    source TEXT NOT NULL,          -- the file, as an absolute path
    directory TEXT NOT NULL,       -- where its jobs run
    digest TEXT NOT NULL,          -- of all jobs and arcs: an edited file is noticed
    submitted REAL NOT NULL,
    arrivals INTEGER NOT NULL      -- the last number given to a job that became eligible
);
CREATE TABLE jobs (
    workflow INTEGER NOT NULL,
    job INTEGER NOT NULL,          -- its place in the workflow
    name TEXT NOT NULL,
    state INTEGER NOT NULL,        -- model.states
    rank INTEGER NOT NULL,         -- smaller first
    arrival INTEGER NOT NULL,      -- then: who became eligible first
    waiting_for INTEGER NOT NULL,  -- parents that are not done
    tries INTEGER NOT NULL,        -- attempts that count against its retries
    attempts INTEGER NOT NULL,     -- all of them
    retries INTEGER NOT NULL,
    lease INTEGER,                 -- the attempt that has the job now
    cores INTEGER NOT NULL,
    time REAL,                     -- its limit in seconds
    seconds REAL,                  -- its expected run time
    spec TEXT,                     -- what to run, as JSON; NULL: a milestone
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;
CREATE INDEX jobs_eligible ON jobs (workflow, rank, arrival) WHERE state = 1;
CREATE TABLE arcs (
    workflow INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    child INTEGER NOT NULL,
    weak INTEGER NOT NULL,         -- 1: needs the parent ended, not succeeded; 2: and has counted its failure
    PRIMARY KEY (workflow, parent, child)
) WITHOUT ROWID;
CREATE TABLE placeholders (
    id INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started REAL NOT NULL,
    beat REAL NOT NULL,
    ended REAL
);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,        -- the lease; never used again
    workflow INTEGER NOT NULL,
    job INTEGER NOT NULL,
    number INTEGER NOT NULL,       -- 1 for a job's first attempt
    placeholder INTEGER NOT NULL,
    leased REAL NOT NULL,
    started REAL,
    ended REAL,
    exit_code INTEGER,             -- negative: a signal
    max_rss INTEGER,
    cpu_seconds REAL,
    reason TEXT
);
CREATE INDEX attempts_open ON attempts (placeholder) WHERE ended IS NULL;
CREATE INDEX attempts_of ON attempts (workflow, job);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    workflow INTEGER,
    job INTEGER,
    text TEXT NOT NULL
);
