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
    EXISTS (SELECT 1 FROM jobs
            INDEXED BY jobs_eligible -- sqlite
            WHERE workflow = f.id AND state = {ELIGIBLE})
    OR EXISTS (SELECT 1 FROM jobs
            INDEXED BY jobs_running -- sqlite
            WHERE workflow = f.id AND state = {RUNNING})
    OR EXISTS (SELECT 1 FROM jobs
            INDEXED BY jobs_aside -- sqlite
            WHERE workflow = f.id AND state > {FAILED} AND state < {DISABLED})
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

-- name: ask_allocation
INSERT INTO allocations (site, cores, seconds, state, asked, token) VALUES (:site, :cores, :seconds, :asked, :now, :token)

-- name: open_allocations
SELECT id, cores, seconds, state, asked, queue_id, began FROM allocations WHERE site = :site AND ended IS NULL ORDER BY id

-- name: all_allocations
SELECT id, site, cores, seconds, state, asked, queue_id, began, ended, reason FROM allocations ORDER BY id

-- name: queue_allocation
UPDATE allocations SET queue_id = :queue_id, state = CASE WHEN state = :asked THEN :queued ELSE state END
WHERE id = :id AND ended IS NULL

-- name: end_allocation
UPDATE allocations SET ended = :now, reason = :reason, state = :over WHERE id = :id AND ended IS NULL

-- name: token_of
SELECT token, instance, site, ended FROM allocations WHERE id = :id
FOR UPDATE -- postgresql

-- name: begin_allocation
UPDATE allocations SET state = :runs, began = COALESCE(began, :now), instance = :instance WHERE id = :id

-- What eligible jobs want, and what jobs use that run at a site.
-- name: eligible_cores
SELECT COALESCE(SUM(CASE WHEN cores < 1 THEN 1 ELSE cores END), 0) FROM jobs
    INDEXED BY jobs_eligible -- sqlite
WHERE workflow = :workflow AND state = {ELIGIBLE}

-- name: running_at
SELECT j.workflow, j.lease, CASE WHEN j.cores < 1 THEN 1 ELSE j.cores END FROM placeholders p JOIN attempts a ON a.placeholder = p.id
    JOIN jobs j ON j.lease = a.id AND j.state = {RUNNING}
WHERE p.site = :site AND p.ended IS NULL

-- name: unwant_at
DELETE FROM wanted WHERE workflow = :workflow AND site = :site

-- name: placeholders_at
SELECT site, COUNT(*) FROM placeholders WHERE ended IS NULL GROUP BY site

-- name: forget_affinities
DELETE FROM affinities WHERE workflow = :workflow

-- The host that a job is bound to, the job that ran there, and whether a placeholder is there now.
-- name: bound_to
SELECT h.host, s.name, EXISTS (SELECT 1 FROM placeholders q WHERE q.host = h.host AND q.ended IS NULL)
FROM affinities f JOIN jobs p ON p.workflow = f.workflow AND p.job = f.after
    JOIN specs s ON s.workflow = f.workflow AND s.job = f.after
    JOIN attempts a ON a.id = p.lease JOIN placeholders h ON h.id = a.placeholder
WHERE f.workflow = :workflow AND f.job = :job
