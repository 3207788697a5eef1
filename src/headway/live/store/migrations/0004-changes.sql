-- What has changed since somebody last looked: a number on the row of each job, written with whatever else is written
-- there (decisions/0013). 0: nothing has happened to the job since it was submitted.
ALTER TABLE jobs ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;  -- sqlite
ALTER TABLE jobs ADD COLUMN changed xid8 NOT NULL DEFAULT '0';  -- postgresql
CREATE INDEX jobs_changed ON jobs (changed) WHERE changed > '0';  -- postgresql
