-- Placeholders that are scripts: they call services and give no other sign of life, so their queue is asked for them.
CREATE TABLE callers (
    placeholder BIGINT PRIMARY KEY,
    sched TEXT NOT NULL,                -- who knows whether it is there: a batch queue, or the processes of a host
    sched_id TEXT NOT NULL,             -- and what it is called there
    submit_host TEXT NOT NULL,          -- where that is asked
    slot TEXT NOT NULL,                 -- which of several with one id it is
    patience DOUBLE PRECISION NOT NULL, -- how long its leases last
    missing BIGINT NOT NULL,            -- looks in a row that have not found it
    looked DOUBLE PRECISION NOT NULL    -- when the last one was
);
CREATE INDEX callers_id ON callers (sched_id);
CREATE INDEX placeholders_there ON placeholders (id) WHERE ended IS NULL;
-- What users say of their jobs beyond what Headway acts on, and release and affinity as they were said.
CREATE TABLE attributes (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    pairs TEXT NOT NULL,                -- as an object of JSON
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
