-- Workflows whose jobs placeholders take though nobody waits for them there: at a site, or '' for every site.
CREATE TABLE wanted (
    workflow BIGINT NOT NULL,
    site TEXT NOT NULL,
    PRIMARY KEY (workflow, site)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
-- The files that jobs declare, for sites that do not share ours; kept apart from what a job is, and known only of
-- workflows that were run at such a site.
CREATE TABLE files (
    workflow BIGINT NOT NULL,
    job BIGINT NOT NULL,
    outputs TEXT NOT NULL,              -- paths below the workflow's folder, as a list of JSON
    inputs TEXT NOT NULL,               -- the same, its program among them
    PRIMARY KEY (workflow, job)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
