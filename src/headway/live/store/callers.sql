-- The statements of services, and of placeholders that call them.

-- name: caller
SELECT c.placeholder FROM callers c JOIN placeholders p ON p.id = c.placeholder
WHERE c.sched_id = :sched_id AND c.sched = :sched AND c.submit_host = :submit_host AND c.slot = :slot
    AND p.host = :host AND p.site = :site ORDER BY c.placeholder DESC LIMIT 1

-- name: add_caller
INSERT INTO callers (placeholder, sched, sched_id, submit_host, slot, patience, missing, looked)
VALUES (:placeholder, :sched, :sched_id, :submit_host, :slot, :patience, 0, 0)

-- A lease that it was given and has not begun: the answer may never have come to it.
-- name: unbegun
SELECT j.lease FROM jobs j JOIN attempts a ON a.id = j.lease
WHERE j.state = {RUNNING} AND a.placeholder = :placeholder AND a.started IS NULL AND a.stop IS NULL ORDER BY a.id LIMIT 1

-- name: begin_attempt
UPDATE attempts SET started = :now WHERE id = :lease AND ended IS NULL AND started IS NULL

-- name: holds
SELECT 1 FROM jobs j JOIN attempts a ON a.id = j.lease
WHERE j.state = {RUNNING} AND a.placeholder = :placeholder LIMIT 1

-- name: is_caller
SELECT 1 FROM callers WHERE placeholder = :placeholder

-- name: attempt_of
SELECT a.workflow, a.job, a.number, a.step, a.placeholder, a.leased, a.started, a.ended, a.exit_code, a.stop, a.reason,
    CASE WHEN j.lease = a.id AND j.state = {RUNNING} THEN 1 ELSE 0 END
FROM attempts a JOIN jobs j ON j.workflow = a.workflow AND j.job = a.job WHERE a.id = :lease

-- Placeholders that have been given something, whose leases are over, and that nobody has lately looked for.
-- name: overdue
SELECT c.placeholder, c.sched, c.sched_id, c.submit_host, c.missing, p.beat, p.host
FROM placeholders p JOIN callers c ON c.placeholder = p.id
WHERE p.ended IS NULL AND c.sched <> 'none' AND p.beat + c.patience < :now AND c.looked + c.patience / :parts < :now
ORDER BY p.id

-- name: look
UPDATE callers SET looked = :now WHERE placeholder = :placeholder

-- name: callers_of
SELECT sched_id FROM callers WHERE sched = :sched AND submit_host = :submit_host ORDER BY placeholder DESC LIMIT :most

-- name: was_listed
SELECT 1 FROM meta WHERE key = :key

-- name: note_listed
INSERT INTO meta (key, value) VALUES (:key, '1') ON CONFLICT (key) DO NOTHING

-- name: missed
UPDATE callers SET missing = :missing WHERE placeholder = :placeholder

-- name: add_attributes
INSERT INTO attributes (workflow, job, pairs) VALUES (:workflow, :job, :pairs)

-- name: attributes_of
SELECT pairs FROM attributes WHERE workflow = :workflow AND job = :job

-- name: forget_attributes
DELETE FROM attributes WHERE workflow = :workflow

-- name: forget_callers
DELETE FROM callers WHERE placeholder NOT IN (SELECT id FROM placeholders)

-- name: resources_of
SELECT j.cores, j.memory, j.retries, j.state, j.off, s.name, s.time, s.seconds, s.spec, COALESCE(l.named, '[]')
FROM jobs j JOIN specs s ON s.workflow = j.workflow AND s.job = j.job
    LEFT JOIN lanes l ON l.workflow = j.workflow AND l.lane = j.lane
WHERE j.workflow = :workflow AND j.job = :job

-- name: last_ended
SELECT a.started, a.ended, a.exit_code, a.max_rss, a.cpu_seconds, a.number, COALESCE(a.reason, ''),
    COALESCE(a.status, ''), p.host, p.site
FROM attempts a JOIN placeholders p ON p.id = a.placeholder
WHERE a.workflow = :workflow AND a.job = :job AND a.ended IS NOT NULL AND a.exit_code IS NOT NULL
ORDER BY a.id DESC LIMIT 1
