-- The statements of watching and steering. A line that ends in "-- sqlite" or "-- postgresql" is for that database only.

-- The jobs from one place to another. PostgreSQL locks them, in the one order there is.
-- name: range_jobs
SELECT workflow, job, state, waiting_for, tries, retries, kind, lease, arrival, off FROM jobs
WHERE workflow = :workflow AND job BETWEEN :first AND :last ORDER BY job
FOR UPDATE -- postgresql

-- name: range_parts
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off
FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job
WHERE n.workflow = :workflow AND n.owner BETWEEN :first AND :last ORDER BY j.job
FOR UPDATE OF j -- postgresql

-- name: range_nodes
SELECT job, step, rules, result, pre_result, not_before, parts, parts_left, parts_failed, owner, late FROM nodes
WHERE workflow = :workflow AND (job BETWEEN :first AND :last OR owner BETWEEN :first AND :last)

-- Jobs, and all that depends on them.
-- name: following
WITH RECURSIVE found (job) AS (
    SELECT job FROM jobs WHERE workflow = :workflow AND job BETWEEN :first AND :last
    UNION SELECT a.child FROM found f JOIN arcs a ON a.workflow = :workflow AND a.parent = f.job)
SELECT job FROM found

-- Jobs, the milestones right behind them, and who waits for either.
-- name: waiting
WITH RECURSIVE found (job, kind) AS (
    SELECT job, 1 FROM jobs WHERE workflow = :workflow AND job BETWEEN :first AND :last
    UNION SELECT j.job, j.kind FROM found f JOIN arcs a ON a.workflow = :workflow AND a.parent = f.job
        JOIN jobs j ON j.workflow = :workflow AND j.job = a.child WHERE f.kind = {MILESTONE})
SELECT job FROM found

-- name: some_jobs
SELECT workflow, job, state, waiting_for, tries, retries, kind, lease, arrival, off FROM jobs
WHERE workflow = :workflow
    AND job IN (SELECT value FROM json_each(:jobs)) -- sqlite
    AND job = ANY(CAST(:jobs AS bigint[])) -- postgresql
ORDER BY job
FOR UPDATE -- postgresql

-- name: some_parts
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off
FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job
WHERE n.workflow = :workflow
    AND n.owner IN (SELECT value FROM json_each(:jobs)) -- sqlite
    AND n.owner = ANY(CAST(:jobs AS bigint[])) -- postgresql
ORDER BY j.job
FOR UPDATE OF j -- postgresql

-- name: some_nodes
SELECT job, step, rules, result, pre_result, not_before, parts, parts_left, parts_failed, owner, late FROM nodes
WHERE workflow = :workflow
    AND (job IN (SELECT value FROM json_each(:jobs)) OR owner IN (SELECT value FROM json_each(:jobs))) -- sqlite
    AND (job = ANY(CAST(:jobs AS bigint[])) OR owner = ANY(CAST(:jobs AS bigint[]))) -- postgresql

-- name: some_arcs
SELECT parent, child, weak FROM arcs WHERE workflow = :workflow
    AND parent IN (SELECT value FROM json_each(:jobs)) -- sqlite
    AND parent = ANY(CAST(:jobs AS bigint[])) -- postgresql
ORDER BY parent, child

-- name: all_arcs
SELECT parent, child, weak FROM arcs WHERE workflow = :workflow ORDER BY parent, child

-- name: all_doubts
SELECT because, job FROM doubts WHERE workflow = :workflow ORDER BY because, job

-- name: arrivals
SELECT arrivals FROM workflows WHERE id = :workflow -- sqlite
SELECT nextval('arrivals') -- postgresql

-- name: keep_arrivals
UPDATE workflows SET arrivals = :arrivals WHERE id = :workflow -- sqlite
SELECT 1 -- postgresql

-- name: switch
UPDATE jobs SET off = (off & ({LEFT_OUT} + {ASSUMED})) + :off,
    changed = (SELECT COALESCE(MAX(id), 0) + 1 FROM attempts) -- sqlite
    changed = pg_current_xact_id() -- postgresql
WHERE workflow = :workflow AND job BETWEEN :first AND :last AND kind NOT IN ({MILESTONE}, {PART}) AND (off & {BY_USER}) <> :off

-- name: switch_part
UPDATE jobs SET off = (off & ({LEFT_OUT} + {ASSUMED})) + :off,
    changed = (SELECT COALESCE(MAX(id), 0) + 1 FROM attempts) -- sqlite
    changed = pg_current_xact_id() -- postgresql
WHERE workflow = :workflow AND job = :job AND (off & {BY_USER}) <> :off

-- name: unspend
UPDATE arcs SET weak = CASE weak WHEN {SUCCESS_MET} THEN {SUCCESS} ELSE {END} END
WHERE workflow = :workflow AND parent = :parent AND weak >= {END_MET}

-- name: settle_doubt
DELETE FROM doubts WHERE workflow = :workflow AND job = :job AND because = :because

-- name: say
UPDATE attempts SET status = :status WHERE id = :lease AND ended IS NULL

-- name: attempt_kind
SELECT j.workflow, j.job, j.kind FROM attempts a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.job
WHERE a.id = :lease AND a.ended IS NULL

-- name: names
SELECT job, name FROM specs WHERE workflow = :workflow ORDER BY job

-- name: workflows
SELECT id, name, source, submitted FROM workflows ORDER BY id DESC

-- name: last_run
SELECT value FROM meta WHERE key = 'last_run'

-- name: leased_workflows
SELECT DISTINCT workflow FROM jobs WHERE state = {RUNNING} AND lease IS NOT NULL

-- How every job of a workflow is, a digit each, in the order of their places: a tenth of what a hundred thousand rows
-- would cost. What waits but is switched off is disabled; 9: a milestone, or a process of a node. And, as of the same
-- moment, who has the jobs that are given out.
-- name: state_digits
SELECT workflow, CAST(NULL AS bigint), CAST(NULL AS bigint),
    group_concat( -- sqlite
    string_agg(CAST( -- postgresql
        CASE WHEN kind IN ({MILESTONE}, {PART}) THEN 9
        WHEN off <> 0 AND state IN ({WAITING}, {ELIGIBLE}, {LATER}) THEN {DISABLED} ELSE state END
        , '') -- sqlite
        AS text), '' ORDER BY job) -- postgresql
FROM jobs WHERE workflow BETWEEN :first AND :last GROUP BY workflow
UNION ALL SELECT workflow, job, lease, NULL FROM jobs
WHERE workflow BETWEEN :first AND :last AND state = {RUNNING} AND lease IS NOT NULL AND kind NOT IN ({MILESTONE}, {PART})

-- name: some_names
SELECT job, name FROM specs WHERE workflow = :workflow
    AND job IN (SELECT value FROM json_each(:jobs)) -- sqlite
    AND job = ANY(CAST(:jobs AS bigint[])) -- postgresql

-- No change that is committed from now on has a smaller number. PostgreSQL: the oldest transaction that is still open.
-- name: latest_change
SELECT COALESCE(MAX(id), 0) + 1 FROM attempts -- sqlite
SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) -- postgresql

-- PostgreSQL: by the index of changes, whatever the planner thinks of that of workflows. A number that no transaction
-- has yet is from another server, whose dump was read in here.
-- name: changes
SELECT workflow, job, kind, state, off, attempts, lease
FROM jobs WHERE changed >= :after AND changed > 0 -- sqlite
FROM (SELECT * FROM jobs WHERE changed >= CAST(CAST(:after AS text) AS xid8) AND changed > '0' -- postgresql
    AND changed < pg_snapshot_xmax(pg_current_snapshot()) OFFSET 0) AS found WHERE TRUE -- postgresql
    AND workflow BETWEEN :first AND :last

-- name: standing
SELECT workflow, job, kind, state, off, attempts, lease FROM jobs WHERE workflow BETWEEN :first AND :last
ORDER BY workflow, job

-- name: groups
SELECT path, first, last FROM job_groups WHERE workflow = :workflow ORDER BY place

-- name: group
SELECT path, first, last FROM job_groups WHERE workflow = :workflow AND path = :path

-- name: job_named
SELECT s.name, s.job FROM specs s JOIN jobs j ON j.workflow = s.workflow AND j.job = s.job
WHERE s.workflow = :workflow AND s.name = :name AND j.kind <> {PART}

-- name: seen
SELECT j.job, s.name, j.state, j.off, j.lease FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND j.job BETWEEN :first AND :last AND j.kind NOT IN ({MILESTONE}, {PART}) ORDER BY j.job

-- name: running_jobs
SELECT j.workflow, j.job, s.name, a.id, a.number, s.spec, p.host, a.leased, COALESCE(a.status, ''), a.step, n.rules,
    p.site
FROM jobs j JOIN attempts a ON a.id = j.lease JOIN placeholders p ON p.id = a.placeholder
    JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.state = {RUNNING} AND (CAST(:workflow AS bigint) IS NULL OR j.workflow = CAST(:workflow AS bigint)) ORDER BY a.id

-- Jobs in doubt: begun, or about to, while the job that failed is not done after all.
-- name: doubts
SELECT s.name, b.name FROM doubts d
    JOIN jobs j ON j.workflow = d.workflow AND j.job = d.job
    JOIN jobs f ON f.workflow = d.workflow AND f.job = d.because
    JOIN specs s ON s.workflow = d.workflow AND s.job = d.job
    JOIN specs b ON b.workflow = d.workflow AND b.job = d.because
WHERE d.workflow = :workflow AND j.state <> {WAITING} AND f.state <> {DONE} ORDER BY d.job, d.because

-- name: doubts_of
SELECT b.name FROM doubts d JOIN jobs f ON f.workflow = d.workflow AND f.job = d.because
    JOIN specs b ON b.workflow = d.workflow AND b.job = d.because
WHERE d.workflow = :workflow AND d.job = :job AND f.state <> {DONE} ORDER BY d.because

-- Arcs that have not been counted down, and the jobs that have not been done: read whole, since one job may wait for
-- most of them.
-- name: open_arcs
SELECT a.child, a.parent FROM arcs a JOIN jobs p ON p.workflow = a.workflow AND p.job = a.parent
WHERE a.workflow = :workflow AND a.weak < {END_MET} AND p.state <> {DONE} ORDER BY a.parent, a.child

-- name: open_jobs
SELECT j.job, j.kind, COALESCE(s.name, ''), j.state, j.off
FROM jobs j LEFT JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND j.state <> {DONE}

-- name: job_facts
SELECT s.name, j.state, j.off, j.kind, j.tries, j.retries, j.cores, j.lane, j.rank, j.arrival,
    COALESCE(n.not_before, 0), COALESCE(n.parts, 0), COALESCE(n.parts_left, 0), w.halted
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job JOIN workflows w ON w.id = j.workflow
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow AND j.job = :job

-- name: last_attempt
SELECT a.number, p.host, a.leased, a.ended, a.exit_code, COALESCE(a.reason, ''), COALESCE(a.status, ''), a.step,
    COALESCE(a.stop, '')
FROM jobs j JOIN attempts a ON a.id = j.lease JOIN placeholders p ON p.id = a.placeholder
WHERE j.workflow = :workflow AND j.job = :job

-- name: ahead
SELECT COUNT(*) FROM jobs
    INDEXED BY jobs_eligible -- sqlite
WHERE workflow = :workflow AND state = {ELIGIBLE} AND kind <> {MILESTONE}
    AND (rank < :rank OR (rank = :rank AND (arrival < :arrival OR (arrival = :arrival AND job < :job))))

-- name: in_lane
SELECT s.name FROM jobs j JOIN lanes l ON l.workflow = j.workflow AND l.lane = j.lane
    JOIN lanes m ON m.workflow = j.workflow AND m.lane = :lane
    JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND j.state = {RUNNING} AND (l.category = m.category OR (m.category IS NULL AND l.named <> '[]'))
ORDER BY j.job

-- Those that give signs of life, and scripts that have a job.
-- name: present
SELECT COUNT(*) FROM placeholders p
WHERE ended IS NULL AND (beat >= :since OR EXISTS (SELECT 1 FROM callers c WHERE c.placeholder = p.id))

-- name: kinds
SELECT job, kind FROM jobs WHERE workflow = :workflow
