-- How far a decision reaches, and the digest of what was put in the place of what was asked about.
ALTER TABLE audit ADD COLUMN scope TEXT;
ALTER TABLE audit ADD COLUMN changed TEXT;
