-- What a workflow's jobs get of its user's environment on other hosts: only what its user names (--export).
ALTER TABLE workflows ADD COLUMN exported TEXT NOT NULL DEFAULT '';  -- variables, as an object of JSON; '': none
