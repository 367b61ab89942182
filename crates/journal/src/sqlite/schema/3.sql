-- State of the server besides its sessions, such as the inbox: small documents by kind and id.
CREATE TABLE documents (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;
