-- How a session can be gone on with by another server while its agent runs.
ALTER TABLE sessions ADD COLUMN checkpoint BLOB;
