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

-- The latest attempts at commands that ended well: what ran, where, how long, with how much input.
-- name: ran
SELECT w.program, s.spec, p.site, a.ended - a.started, w.bytes
FROM attempts a JOIN specs s ON s.workflow = a.workflow AND s.job = a.job JOIN placeholders p ON p.id = a.placeholder
    JOIN workflows f ON f.id = a.workflow LEFT JOIN work w ON w.workflow = a.workflow AND w.job = a.job
WHERE a.exit_code = 0 AND a.started > 0 AND a.step = :step AND f.owner IN ('', :owner) ORDER BY a.id DESC LIMIT :most

-- name: note_work
INSERT INTO work (workflow, job, program, bytes) VALUES (:workflow, :job, :program, :bytes)
ON CONFLICT (workflow, job) DO UPDATE SET program = excluded.program, bytes = excluded.bytes

-- name: expect
INSERT INTO expected (workflow, job, site, seconds) VALUES (:workflow, :job, :site, :seconds)

-- name: forget_expected
DELETE FROM expected WHERE workflow = :workflow

-- name: forget_work
DELETE FROM work WHERE workflow = :workflow

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
INSERT INTO allocations (site, cores, seconds, state, asked, token, nodes)
VALUES (:site, :cores, :seconds, :asked, :now, :token, :nodes)

-- name: open_allocations
SELECT id, cores, seconds, state, asked, queue_id, began, nodes FROM allocations WHERE site = :site AND ended IS NULL ORDER BY id

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

-- What eligible jobs want that may end in the time of an allocation, how many may not, and what jobs use that run at a site.
-- Not more jobs are looked at than any site has room for.
-- name: eligible_cores
SELECT lane, SUM(CASE WHEN seconds <= CAST(:longest AS double precision) THEN cores ELSE 0 END),
    SUM(CASE WHEN seconds <= CAST(:longest AS double precision) THEN 0 ELSE 1 END)
FROM (SELECT j.lane, CASE WHEN j.cores < 1 THEN 1 ELSE j.cores END AS cores,
        COALESCE(s.time, s.seconds, e.seconds, CAST(:unknown AS double precision)) AS seconds
    FROM jobs j
        INDEXED BY jobs_eligible -- sqlite
        CROSS JOIN specs s -- sqlite
        JOIN specs s -- postgresql
            ON s.workflow = j.workflow AND s.job = j.job
        LEFT JOIN expected e ON e.workflow = j.workflow AND e.job = j.job AND e.site = :site
    WHERE j.workflow = :workflow AND j.state = {ELIGIBLE} LIMIT 100000) AS looked_at
GROUP BY lane

-- name: running_at
SELECT j.workflow, j.lease, CASE WHEN j.cores < 1 THEN 1 ELSE j.cores END, j.lane FROM placeholders p JOIN attempts a ON a.placeholder = p.id
    JOIN jobs j ON j.lease = a.id AND j.state = {RUNNING}
WHERE p.site = :site AND p.ended IS NULL

-- The folder of the placeholder that has an attempt which has not ended.
-- name: home_of_lease
SELECT p.home FROM attempts a JOIN placeholders p ON p.id = a.placeholder WHERE a.id = :lease AND a.ended IS NULL AND p.home <> ''

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
