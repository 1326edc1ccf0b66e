-- Version 3. Callers that a door tells apart by their bearer tokens: whose question it is (the empty text: the host's own), and
-- what each token may do. Of a token only its SHA-256 is here.
ALTER TABLE questions ADD COLUMN principal TEXT NOT NULL DEFAULT '';
DROP INDEX questions_open;
CREATE UNIQUE INDEX questions_open ON questions (member, principal, action) WHERE state IN ('pending', 'approved');

-- `services` is a JSON array of service ids; NULL: all.
CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    member TEXT NOT NULL,
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
    reads INTEGER NOT NULL CHECK (reads IN (0, 1)),
    writes INTEGER NOT NULL CHECK (writes IN (0, 1)),
    services TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL CHECK (expires_at > created_at),
    revoked_at INTEGER,
    CHECK (reads + writes > 0)
) STRICT;
-- A name is free again once its token is revoked.
CREATE UNIQUE INDEX tokens_name ON tokens (member, name) WHERE revoked_at IS NULL;
