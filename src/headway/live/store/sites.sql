-- The statements that only runs at other sites need.

-- name: want
INSERT INTO wanted (workflow, site) VALUES (:workflow, :site) ON CONFLICT (workflow, site) DO NOTHING

-- name: unwant
DELETE FROM wanted WHERE workflow = :workflow

-- name: wanting
SELECT site FROM wanted WHERE workflow = :workflow ORDER BY site

-- The workflows that want a site and have something that runs, may run, or is put off; or whose last job has not begun.
-- name: wanted
SELECT w.workflow FROM (SELECT DISTINCT workflow FROM wanted WHERE site IN ('', :site)) w JOIN workflows f ON f.id = w.workflow
WHERE f.owner IN ('', :owner) AND (
    EXISTS (SELECT 1 FROM jobs WHERE workflow = f.id AND state = {ELIGIBLE})
    OR EXISTS (SELECT 1 FROM jobs WHERE workflow = f.id AND state = {RUNNING})
    OR EXISTS (SELECT 1 FROM jobs WHERE workflow = f.id AND state > {FAILED} AND state < {DISABLED})
    OR EXISTS (SELECT 1 FROM jobs WHERE workflow = f.id AND job = f.final AND state IN ({WAITING}, {ELIGIBLE})))
ORDER BY w.workflow

-- name: forget_wanted
DELETE FROM wanted WHERE workflow = :workflow

-- name: declare_files
INSERT INTO files (workflow, job, inputs, outputs) VALUES (:workflow, :job, :inputs, :outputs)
ON CONFLICT (workflow, job) DO UPDATE SET inputs = excluded.inputs, outputs = excluded.outputs

-- name: files
SELECT inputs, outputs FROM files WHERE workflow = :workflow AND job = :job

-- name: leased_job
SELECT workflow, job FROM attempts WHERE id = :lease

-- name: forget_files
DELETE FROM files WHERE workflow = :workflow
