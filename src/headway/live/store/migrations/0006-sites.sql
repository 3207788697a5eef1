-- Where placeholders run: the site as the user calls it, and the folder that they have there.
ALTER TABLE placeholders ADD COLUMN site TEXT NOT NULL DEFAULT 'local';
ALTER TABLE placeholders ADD COLUMN home TEXT NOT NULL DEFAULT '';  -- '': the folder of the store on this host
-- The last lines that a failed attempt printed on another host.
ALTER TABLE attempts ADD COLUMN tail TEXT;
