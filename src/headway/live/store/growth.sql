-- The statements of workflows that grow.

-- PostgreSQL: nobody is between reading who waits for a job and ending it.
-- name: close_arcs
SELECT 1 -- sqlite
LOCK TABLE arcs IN ACCESS EXCLUSIVE MODE -- postgresql

-- Whether it has rows beyond its graph, its size, its worst rank, and whether it is more than jobs and arcs.
-- name: outline
SELECT MAX(j.job) + 1, MAX(j.rank), w.special,
    MAX(CASE WHEN j.kind IN ({JOB}, {NODE}, {MILESTONE}) THEN 0 ELSE 1 END), w.directory
FROM workflows w JOIN jobs j ON j.workflow = w.id WHERE w.id = :workflow GROUP BY w.id, w.special, w.directory

-- Something in it is numbered by the size of its workflow.
-- name: is_open
SELECT 1 FROM specs WHERE workflow = :workflow
    AND (instr(spec, 'u0002') > 0 OR instr(spec, char(2)) > 0) -- sqlite
    AND (position('u0002' IN spec) > 0 OR position(chr(2) IN spec) > 0) -- postgresql
LIMIT 1

-- name: node_state
SELECT state, kind FROM jobs WHERE workflow = :workflow AND job = :job

-- name: late_of
SELECT late FROM nodes WHERE workflow = :workflow AND job = :job AND late IS NOT NULL

-- name: ends_at
SELECT path, first FROM job_groups WHERE workflow = :workflow AND last = :last

-- name: has_arc
SELECT 1 FROM arcs WHERE workflow = :workflow AND parent = :parent AND child = :child

-- name: grow_group
UPDATE job_groups SET last = :last WHERE workflow = :workflow AND path = :path

-- name: next_group
SELECT COALESCE(MAX(place), -1) + 1 FROM job_groups WHERE workflow = :workflow

-- name: touch_job
UPDATE jobs SET
    changed = (SELECT COALESCE(MAX(id), 0) + 1 FROM attempts) -- sqlite
    changed = pg_current_xact_id() -- postgresql
WHERE workflow = :workflow AND job = :job

-- Whether something beyond its own group waits for a job.
-- name: is_awaited
SELECT 1 FROM arcs WHERE workflow = :workflow AND parent = :parent AND (child > :last OR :parent = :last) LIMIT 1
