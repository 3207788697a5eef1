-- Workflows whose jobs placeholders take though nobody waits for them there: at a site, or '' for every site.
CREATE TABLE wanted (
    workflow BIGINT NOT NULL,
    site TEXT NOT NULL,
    PRIMARY KEY (workflow, site)
) WITHOUT ROWID;                                               -- sqlite
);                                                             -- postgresql
