-- The statements of the store. A line that ends in "-- sqlite" or "-- postgresql" is for that database only.

-- A number is never used again, even if its workflow was forgotten: runners remember what they know by it.
-- name: add_workflow
INSERT INTO workflows (name, source, directory, digest, submitted, special, final, what_next, owner, follows
    , arrivals, id -- sqlite
) VALUES (:name, :source, :directory, :digest, :submitted, :special, :final, :what_next, :owner, :follows
    , :arrivals, 1 + MAX(COALESCE((SELECT MAX(id) FROM workflows), 0), -- sqlite
        COALESCE((SELECT CAST(value AS integer) FROM meta WHERE key = 'last_workflow'), 0)) -- sqlite
)
RETURNING id -- postgresql

-- name: add_job
INSERT INTO jobs
(workflow, job, kind, state, rank, arrival, waiting_for, tries, attempts, retries, cores, lane, memory)
VALUES (:workflow, :job, :kind, :state, :rank, :arrival, :waiting_for, 0, 0, :retries, :cores, :lane, :memory)

-- name: copy_jobs
COPY jobs (workflow, job, kind, state, rank, arrival, waiting_for, retries, cores, lane, memory, tries, attempts)
FROM STDIN

-- name: add_spec
INSERT INTO specs (workflow, job, name, time, seconds, spec) VALUES (:workflow, :job, :name, :time, :seconds, :spec)

-- name: copy_specs
COPY specs (workflow, job, name, time, seconds, spec) FROM STDIN

-- arcs.weak is what a child needs of its parent (model.states.Needs). Renaming it would end older processes that are at work.
-- name: add_arc
INSERT INTO arcs (workflow, parent, child, weak) VALUES (:workflow, :parent, :child, :needs)

-- name: copy_arcs
COPY arcs (workflow, parent, child, weak) FROM STDIN

-- name: add_node
INSERT INTO nodes (workflow, job, step, begins, rules, parts, owner, late, parts_left, parts_failed)
VALUES (:workflow, :job, :begins, :begins, :rules, :parts, :owner, :late, 0, 0)

-- name: copy_nodes
COPY nodes (workflow, job, begins, rules, parts, owner, late, step, parts_left, parts_failed) FROM STDIN

-- name: add_lane
INSERT INTO lanes (workflow, lane, category, most, named) VALUES (:workflow, :lane, :category, :most, :named)

-- name: add_affinity
INSERT INTO affinities (workflow, job, after) VALUES (:workflow, :job, :after)

-- name: add_group
INSERT INTO job_groups (workflow, place, path, first, last) VALUES (:workflow, :place, :path, :first, :last)

-- name: copy_groups
COPY job_groups (workflow, place, path, first, last) FROM STDIN

-- Others are to notice that it came. A job's number is never smaller than latest_change was before.
-- name: touch
UPDATE jobs SET
    changed = (SELECT COALESCE(MAX(id), 0) + 1 FROM attempts) -- sqlite
    changed = pg_current_xact_id() -- postgresql
WHERE workflow = :workflow AND job = 0

-- name: latest
SELECT id, digest FROM workflows WHERE source = :source AND owner IN ('', :owner) ORDER BY id DESC LIMIT 1

-- name: is_followed
SELECT 1 FROM workflows w JOIN workflows later ON later.source = w.source
WHERE w.id = :workflow AND later.follows = w.id

-- name: counts
SELECT state, COUNT(*) FROM jobs WHERE workflow = :workflow AND kind IN ({COUNTED}) GROUP BY state

-- name: definitions
SELECT s.name, j.state, s.spec, n.rules
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow AND j.kind IN ({JOB}, {NODE})

-- name: made
SELECT s.name, j.state, j.attempts, s.spec, n.rules
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow AND j.kind IN ({JOB}, {NODE})

-- name: earlier
SELECT e.id FROM workflows w JOIN workflows e ON e.source = w.source AND e.owner IN ('', w.owner) AND e.id < w.id
WHERE w.id = :workflow ORDER BY e.id DESC

-- name: setting
SELECT directory, exported FROM workflows WHERE id = :workflow

-- name: export
UPDATE workflows SET exported = :exported WHERE id = :workflow

-- Jobs that have failed; processes are begun by their nodes.
-- name: failed_jobs
SELECT workflow, job, state, waiting_for, tries, retries, kind, lease, arrival, off FROM jobs
WHERE workflow = :workflow AND state = {FAILED} AND kind <> {PART} ORDER BY job
FOR UPDATE -- postgresql

-- name: failed_nodes
SELECT n.job, n.step, n.rules, n.result, n.pre_result, n.not_before, n.parts, n.parts_left, n.parts_failed, n.owner, n.late
FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job
WHERE n.workflow = :workflow AND j.state = {FAILED} AND j.kind <> {PART}

-- Nodes outside the order: services, the last job, provisioners.
-- name: outside_jobs
SELECT workflow, job, state, waiting_for, tries, retries, kind, lease, arrival, off FROM jobs
WHERE workflow = :workflow AND kind IN ({SERVICE}, {FINAL}, {PROVISIONER}) ORDER BY job
FOR UPDATE -- postgresql

-- name: outside_nodes
SELECT n.job, n.step, n.rules, n.result, n.pre_result, n.not_before, n.parts, n.parts_left, n.parts_failed, n.owner, n.late
FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job
WHERE n.workflow = :workflow AND j.kind IN ({SERVICE}, {FINAL}, {PROVISIONER})

-- Whether a job of a workflow runs or could, and the same with provisioners.
-- name: goes_on
SELECT EXISTS (SELECT 1 FROM jobs WHERE workflow = :workflow
        AND state IN ({ELIGIBLE}, {RUNNING}, {LATER}) AND kind IN ({JOB}, {NODE})),
    EXISTS (SELECT 1 FROM jobs WHERE workflow = :workflow
        AND state IN ({ELIGIBLE}, {RUNNING}, {LATER}) AND kind IN ({JOB}, {NODE}, {PROVISIONER}))

-- The workflow that somebody has run last, whether or not there was something left to do.
-- name: note_run
INSERT INTO meta (key, value) VALUES ('last_run', :workflow) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: unhalt
UPDATE workflows SET halted = 0 WHERE id = :workflow

-- What a job has made a workflow return that it ended.
-- name: renew
UPDATE workflows SET returns = NULL WHERE id = :workflow AND returns IS NOT NULL

-- The same after a failure, unless that came of the end itself.
-- name: renew_failed
UPDATE workflows SET returns = NULL WHERE id = :workflow AND returns IS NOT NULL AND halted = 0

-- The job that a lease is for, and whether its end has not been told and would still count. SQLite: with the last
-- number given to a job that became eligible.
-- name: leased
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off
    , w.arrivals -- sqlite
    , a.id -- postgresql
    , j.lease = a.id AND a.exit_code IS NULL AND a.stop IS NULL
FROM attempts a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.job
    JOIN workflows w ON w.id = a.workflow -- sqlite
WHERE a.id = :lease -- sqlite
WHERE a.id = ANY(CAST(:leases AS bigint[])) -- postgresql

-- The jobs that wait for one (SQLite) or for some of a workflow (PostgreSQL).
-- name: children
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off, a.weak
    , a.parent -- postgresql
FROM arcs a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.child
WHERE a.workflow = :workflow AND a.weak < {END_MET}
    AND a.parent = :parent -- sqlite
    AND a.parent = ANY(CAST(:parents AS bigint[])) -- postgresql
ORDER BY a.parent, a.child

-- PostgreSQL: locks jobs, all in one order, and reads them as they are once locked; with a block of arrivals.
-- name: lock
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off,
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
UPDATE jobs SET state = :state, waiting_for = :waiting_for, tries = :tries, arrival = :arrival, -- sqlite
    changed = (SELECT COALESCE(MAX(id), 0) + 1 FROM attempts) -- sqlite
WHERE workflow = :workflow AND job = :job -- sqlite
UPDATE jobs j SET state = c.state, waiting_for = c.waiting_for, tries = c.tries, arrival = c.arrival, -- postgresql
    changed = pg_current_xact_id() -- postgresql
FROM unnest(CAST(:state AS integer[]), CAST(:waiting_for AS bigint[]), CAST(:tries AS bigint[]), -- postgresql
    CAST(:arrival AS bigint[]), CAST(:workflow AS bigint[]), CAST(:job AS bigint[])) -- postgresql
    AS c(state, waiting_for, tries, arrival, workflow, job) -- postgresql
WHERE j.workflow = c.workflow AND j.job = c.job -- postgresql

-- name: node
SELECT step, rules, result, pre_result, not_before, parts, parts_left, parts_failed, owner, late FROM nodes
WHERE workflow = :workflow AND job = :job

-- name: job
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off FROM jobs j
WHERE j.workflow = :workflow AND j.job = :job

-- name: job_locked
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off FROM jobs j
WHERE j.workflow = :workflow AND j.job = :job
FOR UPDATE -- postgresql

-- name: owner
SELECT owner FROM nodes WHERE workflow = :workflow AND job = :job

-- name: size
SELECT MAX(job) + 1 FROM jobs WHERE workflow = :workflow

-- name: parts
SELECT j.workflow, j.job, j.state, j.waiting_for, j.tries, j.retries, j.kind, j.lease, j.arrival, j.off
FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job
WHERE n.workflow = :workflow AND n.owner = :owner ORDER BY j.job

-- How the processes of a node ended this time, but for those that were called off.
-- name: part_codes
SELECT a.exit_code FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job JOIN attempts a ON a.id = j.lease
WHERE n.workflow = :workflow AND n.owner = :owner AND a.exit_code IS NOT NULL AND j.state IN ({DONE}, {FAILED}) ORDER BY j.job

-- name: change_node
UPDATE nodes SET step = :step, result = :result, pre_result = :pre_result, not_before = :not_before,
    parts_left = :parts_left, parts_failed = :parts_failed WHERE workflow = :workflow AND job = :job

-- name: grow
UPDATE jobs SET memory = CAST(memory * :factor AS bigint) WHERE workflow = :workflow AND job = :job

-- name: halt
UPDATE workflows SET halted = :halted, returns = :returns WHERE id = :workflow

-- name: running
SELECT lease FROM jobs
    INDEXED BY jobs_running -- sqlite
WHERE workflow = :workflow AND state = {RUNNING} AND lease IS NOT NULL

-- name: stop
UPDATE attempts SET stop = :reason WHERE id = :lease AND ended IS NULL AND stop IS NULL

-- An attempt that was thought lost is under way after all.
-- name: retake
UPDATE attempts SET ended = NULL, reason = NULL WHERE id = :lease

-- The end of an attempt that was thought lost does not count any more.
-- name: void
UPDATE attempts SET stop = :reason WHERE id = :lease AND ended IS NOT NULL AND exit_code IS NULL AND stop IS NULL

-- name: add_doubt
INSERT INTO doubts (workflow, job, because) VALUES (:workflow, :job, :because) ON CONFLICT DO NOTHING

-- name: traits
SELECT special, final, EXISTS (SELECT 1 FROM affinities WHERE workflow = :workflow) FROM workflows WHERE id = :workflow

-- name: lanes
SELECT lane, category, most, named FROM lanes WHERE workflow = :workflow

-- PostgreSQL: one placeholder at a time counts what runs in a workflow's lanes.
-- name: lock_lanes
SELECT 1 -- sqlite
SELECT 1 FROM lanes WHERE workflow = :workflow FOR UPDATE -- postgresql

-- name: running_lanes
SELECT lane, COUNT(*) FROM jobs
    INDEXED BY jobs_running -- sqlite
WHERE workflow = :workflow AND state = {RUNNING} AND lane > 0 GROUP BY lane

-- name: halted
SELECT halted, returns FROM workflows WHERE id = :workflow

-- PostgreSQL: those that another placeholder wakes just now are its business.
-- name: due
SELECT n.job FROM nodes n JOIN jobs j ON j.workflow = n.workflow AND j.job = n.job
WHERE n.workflow = :workflow AND n.not_before <= :now
FOR UPDATE OF j SKIP LOCKED -- postgresql

-- name: next_due
SELECT MIN(not_before) FROM nodes WHERE workflow = :workflow AND not_before > :now

-- A node that is in the hands of its processes has no lease of its own.
-- name: unlease
UPDATE jobs SET lease = NULL WHERE workflow = :workflow AND job = :job

-- SQLite would look at all jobs of the workflow: it does not know how few are in one state.
-- What there is of a workflow: whether it is halted; whether an attempt is under way, other than of services, and of
-- provisioners for which nobody waits any more; is eligible; is put off; and whether its last job has not begun.
-- name: outlook
SELECT w.halted,
    EXISTS (SELECT 1 FROM jobs
            INDEXED BY jobs_running -- sqlite
            WHERE workflow = w.id AND state = {RUNNING} AND kind NOT IN ({SERVICE}, {PROVISIONER}) AND lease IS NOT NULL)
        OR EXISTS (SELECT 1 FROM jobs j
            INDEXED BY jobs_running -- sqlite
            CROSS -- sqlite
            JOIN arcs a ON a.workflow = j.workflow AND a.parent = j.job AND a.weak < {END_MET}
            WHERE j.workflow = w.id AND j.state = {RUNNING} AND j.kind = {PROVISIONER}),
    EXISTS (SELECT 1 FROM jobs
            INDEXED BY jobs_eligible -- sqlite
            WHERE workflow = w.id AND state = {ELIGIBLE} AND kind <> {SERVICE}),
    EXISTS (SELECT 1 FROM jobs
            INDEXED BY jobs_aside -- sqlite
            WHERE workflow = w.id AND state > {FAILED} AND state < {DISABLED} AND kind <> {SERVICE}),
    EXISTS (SELECT 1 FROM jobs WHERE workflow = w.id AND job = w.final AND state IN ({WAITING}, {ELIGIBLE}))
FROM workflows w WHERE w.id = :workflow

-- name: is_running
SELECT 1 FROM jobs
    INDEXED BY jobs_running -- sqlite
WHERE workflow = :workflow AND state = {RUNNING} AND kind NOT IN ({SERVICE}, {PROVISIONER}) AND lease IS NOT NULL LIMIT 1

-- Jobs that wait, directly or not, for one that has failed.
-- name: futile
WITH RECURSIVE blocked (job) AS (
    SELECT a.child FROM arcs a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.parent
    WHERE a.workflow = :workflow AND a.weak = {SUCCESS} AND j.state = {FAILED}
    UNION SELECT a.child FROM blocked b JOIN arcs a ON a.workflow = :workflow AND a.parent = b.job WHERE a.weak = {SUCCESS})
SELECT b.job FROM blocked b JOIN jobs j ON j.workflow = :workflow AND j.job = b.job
WHERE j.state = {WAITING} AND j.kind <> {MILESTONE}

-- name: final
SELECT j.job, s.name, j.attempts, j.cores, s.time, s.spec, j.tries >= j.retries, j.memory, j.kind, j.rank, j.arrival, s.seconds
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND j.job = :job AND j.state = {ELIGIBLE}

-- name: spend
UPDATE arcs SET weak = {END_MET} WHERE workflow = :workflow AND parent = :parent AND weak = {END}

-- Arcs of a provisioner, which count once though it may end again.
-- name: count_arcs
UPDATE arcs SET weak = CASE weak WHEN {SUCCESS} THEN {SUCCESS_MET} ELSE {END_MET} END
WHERE workflow = :workflow AND parent = :parent AND weak < {END_MET}

-- name: set_arrivals
UPDATE workflows SET arrivals = :arrivals WHERE id = :workflow

-- The next jobs by the index of eligible ones, and only then what there is to know of them.
-- name: eligible
SELECT j.job, s.name, j.attempts, j.cores, s.time, s.spec, j.tries >= j.retries, j.memory, j.kind, j.rank, j.arrival
FROM jobs j CROSS JOIN specs s ON s.workflow = j.workflow AND s.job = j.job -- sqlite
WHERE j.workflow = :workflow AND j.lane = :lane AND j.state = {ELIGIBLE} ORDER BY j.rank, j.arrival, j.job LIMIT :most -- sqlite
FROM (SELECT workflow, job, rank, arrival, attempts, cores, tries, retries, memory, kind FROM jobs -- postgresql
    WHERE workflow = :workflow AND lane = :lane AND state = {ELIGIBLE} -- postgresql
    ORDER BY rank, arrival, job LIMIT :most FOR UPDATE SKIP LOCKED) AS j -- postgresql
    JOIN specs s ON s.workflow = j.workflow AND s.job = j.job ORDER BY j.rank, j.arrival, j.job -- postgresql

-- The same, of jobs that can be expected to end in the time that is left (engine.ready.Within), and that are not bound to
-- another host by affinity; with the host that they are bound to.
-- name: eligible_for
SELECT j.job, s.name, j.attempts, j.cores, s.time, s.spec, j.tries >= j.retries, j.memory, j.kind, j.rank, j.arrival,
    COALESCE(s.seconds, e.seconds), h.host
FROM jobs j CROSS JOIN specs s ON s.workflow = j.workflow AND s.job = j.job -- sqlite
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job -- postgresql
    LEFT JOIN expected e ON e.workflow = j.workflow AND e.job = j.job
        AND e.site = (SELECT site FROM placeholders WHERE id = :placeholder)
    LEFT JOIN affinities f ON f.workflow = j.workflow AND f.job = j.job
    LEFT JOIN jobs p ON p.workflow = f.workflow AND p.job = f.after
    LEFT JOIN attempts a ON a.id = p.lease
    LEFT JOIN placeholders h ON h.id = a.placeholder
WHERE j.workflow = :workflow AND j.lane = :lane AND j.state = {ELIGIBLE}
    AND (h.host IS NULL OR h.host = (SELECT host FROM placeholders WHERE id = :placeholder))
    AND COALESCE(s.time, s.seconds, e.seconds, CAST(:unknown AS double precision)) <= CAST(:left AS double precision)
ORDER BY j.rank, j.arrival, j.job LIMIT :most
FOR UPDATE OF j SKIP LOCKED -- postgresql

-- name: last_lease
SELECT COALESCE(MAX(id), 0) FROM attempts

-- name: lease
INSERT INTO attempts (id, workflow, job, number, placeholder, leased, step) -- sqlite
VALUES (:id, :workflow, :job, :number, :placeholder, :now, :step) -- sqlite
WITH new AS ( -- postgresql
    INSERT INTO attempts (workflow, job, number, placeholder, leased, step) -- postgresql
    SELECT :workflow, job, number, :placeholder, :now, step -- postgresql
    FROM unnest(CAST(:jobs AS bigint[]), CAST(:numbers AS bigint[]), CAST(:steps AS integer[])) -- postgresql
        WITH ORDINALITY AS u(job, number, step, place) -- postgresql
    ORDER BY place RETURNING id, job, number), -- postgresql
moved AS (UPDATE jobs j SET state = {RUNNING}, lease = new.id, attempts = new.number, -- postgresql
    changed = pg_current_xact_id() -- postgresql
    FROM new WHERE j.workflow = :workflow AND j.job = new.job) -- postgresql
SELECT job, id FROM new -- postgresql

-- name: take
UPDATE jobs SET state = {RUNNING}, lease = :id, attempts = :number, changed = :id WHERE workflow = :workflow AND job = :job

-- name: enter
INSERT INTO placeholders (host, pid, started, beat, since, patience, site, home)
VALUES (:host, :pid, :now, :now, :now, :patience, :site, :home)

-- name: keep_tail
UPDATE attempts SET tail = :tail WHERE id = :lease

-- The placeholder that this connection has just written.
-- name: entered
SELECT last_insert_rowid() -- sqlite
SELECT lastval() -- postgresql

-- name: beat
UPDATE placeholders SET beat = :now, since = :since, ended = NULL WHERE id = :placeholder

-- name: presence
SELECT id, host, beat, since, patience FROM placeholders WHERE id = :placeholder

-- name: presences
SELECT id, host, beat, since, patience FROM placeholders WHERE ended IS NULL ORDER BY id

-- name: leave
UPDATE placeholders SET beat = :now, ended = :now WHERE id = :placeholder

-- Only if it has not spoken meanwhile.
-- name: lose
UPDATE placeholders SET ended = :now WHERE id = :placeholder AND ended IS NULL AND beat <= :beat RETURNING id

-- What a placeholder holds, and why it is to end, if it is.
-- name: held
SELECT j.lease, a.stop FROM jobs j JOIN attempts a ON a.id = j.lease
WHERE j.state = {RUNNING} AND a.placeholder = :placeholder ORDER BY j.lease

-- name: open_leases
SELECT j.lease FROM jobs j JOIN attempts a ON a.id = j.lease JOIN placeholders p ON p.id = a.placeholder
WHERE j.state = {RUNNING} AND (CAST(:host AS text) IS NULL OR p.host = CAST(:host AS text)) ORDER BY j.lease

-- An attempt that has not ended, with all that an eligible job comes with.
-- name: adoptable
SELECT j.workflow, j.lane, j.job, s.name, j.attempts, j.cores, s.time, s.spec, j.tries >= j.retries, j.memory, j.kind
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.lease = :lease AND j.state = {RUNNING}
    AND j.workflow = (SELECT workflow FROM attempts WHERE id = :lease)
    AND j.job = (SELECT job FROM attempts WHERE id = :lease)
FOR UPDATE OF j -- postgresql

-- A placeholder has taken over from one that died on the same host.
-- name: adopt
UPDATE attempts SET placeholder = :placeholder WHERE id = :lease

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
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND j.kind <> {PART} ORDER BY j.job

-- name: failures
SELECT s.name, j.job, COALESCE(a.number, 0), COALESCE(a.exit_code, n.result), a.reason, p.site, p.home
FROM jobs j LEFT JOIN attempts a ON a.id = j.lease LEFT JOIN placeholders p ON p.id = a.placeholder
    JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN nodes n ON n.workflow = j.workflow AND n.job = j.job
WHERE j.workflow = :workflow AND j.state = {FAILED} AND j.kind <> {PART} ORDER BY j.job

-- name: attempts
SELECT s.name, a.number, p.host, a.started, a.ended, a.exit_code, a.max_rss, a.cpu_seconds, a.reason
FROM attempts a JOIN specs s ON s.workflow = a.workflow AND s.job = a.job JOIN placeholders p ON p.id = a.placeholder
WHERE a.workflow = :workflow ORDER BY a.id

-- The rows that a plan looks at: the nodes of the dag, which come before all others.
-- name: places
SELECT job, state, waiting_for, off, attempts FROM jobs WHERE workflow = :workflow AND kind IN ({JOB}, {MILESTONE}, {NODE})

-- name: places_locked
SELECT job, state, waiting_for, off, attempts FROM jobs
WHERE workflow = :workflow AND kind IN ({JOB}, {MILESTONE}, {NODE}) ORDER BY job
FOR UPDATE -- postgresql

-- Arcs that count already, and those from nodes outside the dag, which come after it.
-- name: odd_arcs
SELECT a.parent, a.child, a.weak, j.state FROM arcs a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.parent
WHERE a.workflow = :workflow AND (a.weak >= {END_MET} OR a.parent >= :size)

-- Jobs that are left out of this run.
-- name: left_out
SELECT state, COUNT(*) FROM jobs WHERE workflow = :workflow AND off > {BY_USER} GROUP BY state

-- Jobs that have not ended and that their user has disabled.
-- name: disabled
SELECT s.name FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
WHERE j.workflow = :workflow AND (j.off & {BY_USER}) <> 0 AND j.state NOT IN ({RUNNING}, {DONE}, {FAILED}) AND j.kind <> {PART}
ORDER BY j.job

-- name: arrange
UPDATE jobs SET state = :state, waiting_for = :waiting_for, off = :off,
    arrival = COALESCE(CAST(:arrival AS bigint), arrival), tries = CASE WHEN :anew = 1 THEN 0 ELSE tries END,
    changed = (SELECT COALESCE(MAX(id), 0) + 1 FROM attempts) -- sqlite
    changed = pg_current_xact_id() -- postgresql
WHERE workflow = :workflow AND job = :job

-- name: reset_node
UPDATE nodes SET result = NULL, pre_result = NULL, parts_left = 0, parts_failed = 0, step = begins, not_before = NULL
WHERE workflow = :workflow AND job = :job

-- name: forget_job_doubts
DELETE FROM doubts WHERE workflow = :workflow AND job = :job

-- When each job was last started; of an attempt that was lost only its lease is known.
-- name: began
SELECT a.started FROM attempts a JOIN specs s ON s.workflow = a.workflow AND s.job = a.job
WHERE a.workflow = :workflow AND a.job = :job AND s.name = :name AND a.started > 0 ORDER BY a.id DESC LIMIT 1

-- name: last_starts
SELECT job, MAX(CASE WHEN started > 0 THEN started ELSE leased END) FROM attempts
WHERE workflow = :workflow AND (started > 0 OR reason IS NULL OR reason <> 'given back') GROUP BY job

-- What an attempt was about whose runner has died.
-- name: lost
SELECT s.spec, w.directory, a.leased FROM attempts a JOIN workflows w ON w.id = a.workflow
    JOIN specs s ON s.workflow = a.workflow AND s.job = a.job WHERE a.id = :lease AND a.step = 0

-- A job that has rules is a node.
-- name: set_retries
UPDATE jobs SET retries = :retries, kind = CASE WHEN kind = {JOB} AND :special = 1 THEN {NODE} ELSE kind END
WHERE workflow = :workflow AND job = :job

-- name: set_rules
INSERT INTO nodes (workflow, job, step, begins, rules, parts, owner, late, parts_left, parts_failed)
VALUES (:workflow, :job, :begins, :begins, :rules, :parts, NULL, :late, 0, 0)
ON CONFLICT (workflow, job) DO UPDATE SET rules = excluded.rules

-- name: set_special
UPDATE workflows SET special = 1 WHERE id = :workflow
