-- The statements of the store. A line that ends in "-- sqlite" or "-- postgresql" is for that database only.

-- name: add_workflow
INSERT INTO workflows (name, source, directory, digest, submitted
    , arrivals -- sqlite
) VALUES (:name, :source, :directory, :digest, :submitted
    , :arrivals -- sqlite
)
RETURNING id -- postgresql

-- name: add_job
INSERT INTO jobs (workflow, job, milestone, state, rank, arrival, waiting_for, tries, attempts, retries, cores)
VALUES (:workflow, :job, :milestone, :state, :rank, :arrival, :waiting_for, 0, 0, :retries, :cores)

-- name: copy_jobs
COPY jobs (workflow, job, milestone, state, rank, arrival, waiting_for, retries, cores, tries, attempts) FROM STDIN

-- name: add_spec
INSERT INTO specs (workflow, job, name, time, seconds, spec) VALUES (:workflow, :job, :name, :time, :seconds, :spec)

-- name: copy_specs
COPY specs (workflow, job, name, time, seconds, spec) FROM STDIN

-- name: add_arc
INSERT INTO arcs (workflow, parent, child, weak) VALUES (:workflow, :parent, :child, :weak)

-- name: copy_arcs
COPY arcs (workflow, parent, child, weak) FROM STDIN

-- name: latest
SELECT id, digest FROM workflows WHERE source = :source ORDER BY id DESC LIMIT 1

-- name: counts
SELECT state, COUNT(*) FROM jobs WHERE workflow = :workflow AND milestone = 0 GROUP BY state

-- name: directory
SELECT directory FROM workflows WHERE id = :workflow

-- name: retry_failed
UPDATE jobs SET state = 1, tries = 0 WHERE workflow = :workflow AND state = 4
AND job IN (SELECT job FROM jobs WHERE workflow = :workflow AND state = 4 ORDER BY job FOR UPDATE) -- postgresql

-- The job that a lease is for. SQLite: with the last number given to a job that became eligible.
-- name: leased
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.milestone, j.lease, j.arrival
    , w.arrivals -- sqlite
    , a.id -- postgresql
FROM attempts a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.job
    JOIN workflows w ON w.id = a.workflow -- sqlite
WHERE a.id = :lease -- sqlite
WHERE a.id = ANY(CAST(:leases AS bigint[])) -- postgresql

-- The jobs that wait for one (SQLite) or for some of a workflow (PostgreSQL).
-- name: children
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.milestone, j.lease, j.arrival, a.weak
    , a.parent -- postgresql
FROM arcs a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.child
WHERE a.workflow = :workflow AND a.weak < 2
    AND a.parent = :parent -- sqlite
    AND a.parent = ANY(CAST(:parents AS bigint[])) -- postgresql
ORDER BY a.parent, a.child

-- PostgreSQL: locks jobs, all in one order, and reads them as they are once locked; with a block of arrivals.
-- name: lock
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.milestone, j.lease, j.arrival,
    (SELECT nextval('arrivals'))
FROM unnest(CAST(:workflows AS bigint[]), CAST(:jobs AS bigint[])) AS u(workflow, job)
    JOIN jobs j ON j.workflow = u.workflow AND j.job = u.job
ORDER BY j.workflow, j.job FOR UPDATE OF j

-- name: end_attempts
UPDATE attempts SET started = :started, ended = :ended, exit_code = :exit_code, max_rss = :max_rss, -- sqlite
    cpu_seconds = :cpu_seconds, reason = :reason WHERE id = :lease -- sqlite
UPDATE attempts a SET started = e.started, ended = e.ended, exit_code = e.exit_code, max_rss = e.max_rss, -- postgresql
    cpu_seconds = e.cpu_seconds, reason = e.reason -- postgresql
FROM unnest(CAST(:started AS double precision[]), CAST(:ended AS double precision[]), CAST(:exit_code AS integer[]), -- postgresql
    CAST(:max_rss AS bigint[]), CAST(:cpu_seconds AS double precision[]), CAST(:reason AS text[]), -- postgresql
    CAST(:lease AS bigint[])) AS e(started, ended, exit_code, max_rss, cpu_seconds, reason, lease) -- postgresql
WHERE a.id = e.lease -- postgresql

-- name: change_jobs
UPDATE jobs SET state = :state, waiting_for = :waiting_for, tries = :tries, arrival = :arrival -- sqlite
WHERE workflow = :workflow AND job = :job -- sqlite
UPDATE jobs j SET state = c.state, waiting_for = c.waiting_for, tries = c.tries, arrival = c.arrival -- postgresql
FROM unnest(CAST(:state AS integer[]), CAST(:waiting_for AS bigint[]), CAST(:tries AS bigint[]), -- postgresql
    CAST(:arrival AS bigint[]), CAST(:workflow AS bigint[]), CAST(:job AS bigint[])) -- postgresql
    AS c(state, waiting_for, tries, arrival, workflow, job) -- postgresql
WHERE j.workflow = c.workflow AND j.job = c.job -- postgresql

-- name: spend
UPDATE arcs SET weak = 2 WHERE workflow = :workflow AND parent = :parent AND weak = 1

-- name: set_arrivals
UPDATE workflows SET arrivals = :arrivals WHERE id = :workflow

-- The next jobs by the index of eligible ones, and only then what there is to know of them.
-- name: eligible
SELECT j.job, s.name, j.attempts, j.cores, s.time, s.spec, j.tries >= j.retries
FROM jobs j CROSS JOIN specs s ON s.workflow = j.workflow AND s.job = j.job -- sqlite
WHERE j.workflow = :workflow AND j.state = 1 ORDER BY j.rank, j.arrival, j.job LIMIT :most -- sqlite
FROM (SELECT workflow, job, rank, arrival, attempts, cores, tries, retries FROM jobs -- postgresql
    WHERE workflow = :workflow AND state = 1 -- postgresql
    ORDER BY rank, arrival, job LIMIT :most FOR UPDATE SKIP LOCKED) AS j -- postgresql
    JOIN specs s ON s.workflow = j.workflow AND s.job = j.job ORDER BY j.rank, j.arrival, j.job -- postgresql

-- name: last_lease
SELECT COALESCE(MAX(id), 0) FROM attempts

-- name: lease
INSERT INTO attempts (id, workflow, job, number, placeholder, leased) -- sqlite
VALUES (:id, :workflow, :job, :number, :placeholder, :now) -- sqlite
WITH new AS ( -- postgresql
    INSERT INTO attempts (workflow, job, number, placeholder, leased) -- postgresql
    SELECT :workflow, job, number, :placeholder, :now -- postgresql
    FROM unnest(CAST(:jobs AS bigint[]), CAST(:numbers AS bigint[])) WITH ORDINALITY AS u(job, number, place) -- postgresql
    ORDER BY place RETURNING id, job, number), -- postgresql
moved AS (UPDATE jobs j SET state = 2, lease = new.id, attempts = new.number -- postgresql
    FROM new WHERE j.workflow = :workflow AND j.job = new.job) -- postgresql
SELECT job, id FROM new -- postgresql

-- name: take
UPDATE jobs SET state = 2, lease = :id, attempts = :number WHERE workflow = :workflow AND job = :job

-- name: enter
INSERT INTO placeholders (host, pid, started, beat) VALUES (:host, :pid, :now, :now)
RETURNING id -- postgresql

-- name: beat
UPDATE placeholders SET beat = :now, ended = NULL WHERE id = :placeholder

-- name: leave
UPDATE placeholders SET beat = :now, ended = :now WHERE id = :placeholder

-- name: lose
UPDATE placeholders SET ended = :now WHERE id = :placeholder

-- name: silent
SELECT id, host FROM placeholders WHERE ended IS NULL AND beat < :since ORDER BY id
FOR UPDATE -- postgresql

-- name: held
SELECT j.lease FROM jobs j JOIN attempts a ON a.id = j.lease
WHERE j.state = 2 AND a.placeholder = :placeholder ORDER BY j.lease

-- name: open_leases
SELECT j.lease FROM jobs j JOIN attempts a ON a.id = j.lease JOIN placeholders p ON p.id = a.placeholder
WHERE j.state = 2 AND (CAST(:host AS text) IS NULL OR p.host = CAST(:host AS text)) ORDER BY j.lease

-- name: has_eligible
SELECT 1 FROM jobs WHERE workflow = :workflow AND state = 1 LIMIT 1

-- name: attempt
SELECT workflow, job, ended, exit_code FROM attempts WHERE id = :lease

-- PostgreSQL: one after the other, so that whoever has read event n has read all before it.
-- name: before_events
SELECT 1 -- sqlite
LOCK TABLE events IN EXCLUSIVE MODE -- postgresql

-- name: add_event
INSERT INTO events (time, kind, workflow, job, text) VALUES (:time, :kind, :workflow, :job, :text)

-- name: events
SELECT id, time, kind, workflow, job, text FROM events WHERE id > :after ORDER BY id

-- name: jobs
SELECT j.job, s.name, j.state, j.rank, j.waiting_for, j.attempts
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job WHERE j.workflow = :workflow ORDER BY j.job

-- name: failures
SELECT s.name, j.job, a.number, a.exit_code, a.reason FROM jobs j JOIN attempts a ON a.id = j.lease
    JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND j.state = 4 ORDER BY j.job

-- name: attempts
SELECT s.name, a.number, p.host, a.started, a.ended, a.exit_code, a.max_rss, a.cpu_seconds, a.reason
FROM attempts a JOIN specs s ON s.workflow = a.workflow AND s.job = a.job JOIN placeholders p ON p.id = a.placeholder
WHERE a.workflow = :workflow ORDER BY a.id
