-- Several runners at one store: a workflow is submitted once, and who is silent is judged by those in touch.
ALTER TABLE workflows ADD COLUMN owner TEXT NOT NULL DEFAULT '';       -- the user, where several share a store
ALTER TABLE workflows ADD COLUMN follows BIGINT NOT NULL DEFAULT 0;    -- the workflow of the same file before this one
UPDATE workflows SET follows = COALESCE(
    (SELECT MAX(earlier.id) FROM workflows earlier WHERE earlier.source = workflows.source AND earlier.id < workflows.id), 0);
CREATE UNIQUE INDEX workflows_once ON workflows (source, owner, follows);
DROP INDEX workflows_source;
ALTER TABLE placeholders ADD COLUMN since DOUBLE PRECISION NOT NULL DEFAULT 0;       -- in touch without a gap
ALTER TABLE placeholders ADD COLUMN patience DOUBLE PRECISION NOT NULL DEFAULT 120;  -- how long its silence may last
