-- What a store remembers, and how it forgets; read when it is asked for.

-- name: runs
SELECT id, name, source, directory, submitted, what_next, halted, returns FROM workflows ORDER BY id

-- name: run_counts
SELECT workflow, state, CASE WHEN state = {RUNNING} THEN lease END AS held, COUNT(*) FROM jobs
WHERE kind IN ({COUNTED}) GROUP BY workflow, state, held

-- name: run_times
SELECT workflow, COUNT(*), MIN(NULLIF(started, 0)), MAX(ended) FROM attempts GROUP BY workflow

-- What placeholders hold; a node in the hands of its processes is not held itself.
-- name: run_leases
SELECT workflow, COUNT(*) FROM jobs WHERE state = {RUNNING} AND lease IS NOT NULL GROUP BY workflow

-- name: history
SELECT a.id, a.job, s.name, a.number, a.step, p.host, a.leased, a.started, a.ended, a.exit_code, a.max_rss,
    a.cpu_seconds, a.reason, a.status, p.site, p.home, a.tail,
    EXISTS (SELECT 1 FROM callers c WHERE c.placeholder = p.id)
FROM attempts a JOIN specs s ON s.workflow = a.workflow AND s.job = a.job JOIN placeholders p ON p.id = a.placeholder
WHERE a.workflow = :workflow AND (CAST(:job AS bigint) IS NULL OR a.job = CAST(:job AS bigint)) ORDER BY a.id

-- name: last_of_job
SELECT a.id, a.job, s.name, a.number, a.step, p.host, a.leased, a.started, a.ended, a.exit_code, a.max_rss,
    a.cpu_seconds, a.reason, a.status, p.site, p.home, a.tail,
    EXISTS (SELECT 1 FROM callers c WHERE c.placeholder = p.id)
FROM jobs j JOIN attempts a ON a.id = j.lease JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    JOIN placeholders p ON p.id = a.placeholder
WHERE j.workflow = :workflow AND j.job = :job

-- name: named
SELECT job FROM specs WHERE workflow = :workflow AND name = :name ORDER BY job

-- name: member
SELECT j.kind, j.state, n.owner, s.name, s.spec FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow AND j.job = :job

-- name: members
SELECT j.job, j.kind, j.state, n.owner, s.name FROM jobs j
    LEFT JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow ORDER BY j.job

-- Processes that are tried again by what their own submit description says.
-- name: part_rules
SELECT j.job, j.retries, n.rules FROM jobs j JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow AND j.kind = {PART} AND j.retries > 0

-- name: web_arcs
SELECT parent, child FROM arcs WHERE workflow = :workflow ORDER BY parent, child

-- PostgreSQL: whoever wants to take a job of a workflow that is to be forgotten passes it over.
-- name: lock_jobs
SELECT 1 FROM jobs WHERE workflow = :workflow LIMIT 1 -- sqlite
SELECT 1 FROM jobs WHERE workflow = :workflow ORDER BY job FOR UPDATE -- postgresql

-- name: remember_workflow
INSERT INTO meta (key, value) VALUES ('last_workflow', :number) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: newest_workflow
SELECT COALESCE(MAX(id), 0) FROM workflows

-- name: forget_workflow
DELETE FROM workflows WHERE id = :workflow

-- name: forget_jobs
DELETE FROM jobs WHERE workflow = :workflow

-- name: forget_specs
DELETE FROM specs WHERE workflow = :workflow

-- name: forget_arcs
DELETE FROM arcs WHERE workflow = :workflow

-- name: forget_nodes
DELETE FROM nodes WHERE workflow = :workflow

-- name: forget_lanes
DELETE FROM lanes WHERE workflow = :workflow

-- name: forget_groups
DELETE FROM job_groups WHERE workflow = :workflow

-- name: forget_doubts
DELETE FROM doubts WHERE workflow = :workflow

-- The newest of these stay, whosever they are: SQLite's next number is the one after the largest.
-- name: forget_attempts
DELETE FROM attempts WHERE workflow NOT IN (SELECT id FROM workflows) AND id < (SELECT MAX(id) FROM attempts)

-- name: forget_events
DELETE FROM events WHERE workflow NOT IN (SELECT id FROM workflows) AND id < (SELECT MAX(id) FROM events)

-- name: forget_placeholders
DELETE FROM placeholders WHERE ended IS NOT NULL AND id < (SELECT MAX(id) FROM placeholders)
    AND id NOT IN (SELECT placeholder FROM attempts)

-- name: sources
SELECT id, source FROM workflows WHERE owner IN ('', :owner)

-- The jobs of those of some workflows in which a job has begun and one is not done.
-- name: unfinished
SELECT j.workflow, s.name, j.state, j.lease FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.kind IN ({JOB}, {NODE}) AND j.workflow IN (
    SELECT workflow FROM jobs WHERE kind IN ({JOB}, {NODE})
        AND workflow IN (SELECT value FROM json_each(:workflows)) -- sqlite
        AND workflow = ANY(CAST(:workflows AS bigint[])) -- postgresql
    GROUP BY workflow HAVING MAX(lease) IS NOT NULL AND MAX(CASE WHEN state = {DONE} THEN 0 ELSE 1 END) = 1)

-- name: last_attempts
SELECT s.name, MAX(j.lease) FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.lease IS NOT NULL
    AND j.workflow IN (SELECT value FROM json_each(:workflows)) -- sqlite
    AND s.name IN (SELECT value FROM json_each(:names)) -- sqlite
    AND j.workflow = ANY(CAST(:workflows AS bigint[])) -- postgresql
    AND s.name = ANY(CAST(:names AS text[])) -- postgresql
GROUP BY s.name
