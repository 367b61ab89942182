-- The server of the fleet that owns a session; none if this one does.
ALTER TABLE sessions ADD COLUMN node TEXT;
