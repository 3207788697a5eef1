-- Allocations of several hosts: as many, with the cores of the row on each.
ALTER TABLE allocations ADD COLUMN nodes BIGINT NOT NULL DEFAULT 1;
-- What jobs run, and how large their input was when they were submitted: known of workflows that sites may run.
CREATE TABLE work (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    program TEXT NOT NULL,
    bytes BIGINT,                       -- NULL: not known
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
-- How long jobs are expected to take at a site, by earlier ones, where their file does not say it.
CREATE TABLE expected (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    site TEXT NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (workflow, job, site)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
