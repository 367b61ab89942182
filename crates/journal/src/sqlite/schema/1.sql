-- One row: how the journal was left, and which epoch new sessions begin in.
CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    boot_id TEXT NOT NULL,
    clean INTEGER NOT NULL,
    epoch INTEGER NOT NULL
);

-- AUTOINCREMENT: a handle is never used twice, and so neither is an epoch.
CREATE TABLE sessions (
    handle INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    client_id TEXT UNIQUE,
    epoch INTEGER NOT NULL,
    head INTEGER NOT NULL DEFAULT 0,
    floor INTEGER NOT NULL DEFAULT 1,
    bytes INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    host_offset INTEGER,
    cwd TEXT NOT NULL,
    title TEXT,
    labels TEXT NOT NULL,
    settings TEXT NOT NULL,
    state TEXT NOT NULL,
    created INTEGER NOT NULL,
    active INTEGER NOT NULL
);

CREATE TABLE cli_sessions (
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (session, place)
) WITHOUT ROWID;

-- Epochs that ended, and the last number that survived of each.
CREATE TABLE past_epochs (
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (session, place)
) WITHOUT ROWID;

-- The row number is the handle, shifted, and the sequence number: one tree, in which the events of a session lie
-- together and in order, without a second index.
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    class INTEGER NOT NULL,
    kind TEXT NOT NULL,
    client_id TEXT,
    seal INTEGER NOT NULL,
    body BLOB NOT NULL
);

-- Ids of commands; they outlive their events.
CREATE TABLE client_ids (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, id)
) WITHOUT ROWID;

CREATE TABLE asks (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT,
    body BLOB NOT NULL,
    deadline INTEGER,
    opened INTEGER NOT NULL,
    opened_at INTEGER NOT NULL,
    outcome TEXT,
    settled INTEGER,
    PRIMARY KEY (session, id)
);
CREATE INDEX asks_open ON asks (session, opened) WHERE outcome IS NULL;

CREATE TABLE projects (
    folder TEXT PRIMARY KEY,
    session INTEGER,
    opened INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX projects_session ON projects (session);

CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    device TEXT,
    session TEXT,
    ask TEXT,
    decision TEXT NOT NULL,
    rule TEXT,
    digest TEXT,
    latency_ms INTEGER,
    hash TEXT NOT NULL
);

-- Sessions that were deleted and whose events have yet to go.
CREATE TABLE doomed (
    handle INTEGER PRIMARY KEY
);
