-- Version 1. A `member` is the id of her key; where only a grant's id is known, it is NULL.
PRAGMA application_id = 0x50494e48;

-- How many uses of a grant are spent.
CREATE TABLE uses (
    grant_id TEXT NOT NULL PRIMARY KEY,
    member TEXT,
    spent INTEGER NOT NULL CHECK (spent BETWEEN 1 AND 4294967295)
) STRICT, WITHOUT ROWID;

-- Grants that are refused for good.
CREATE TABLE revoked (
    grant_id TEXT NOT NULL PRIMARY KEY,
    member TEXT
) STRICT, WITHOUT ROWID;

-- The latest time seen, in seconds since 1970-01-01 UTC. It is the machine's: no row of it is a member's.
CREATE TABLE clock (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    latest INTEGER NOT NULL
) STRICT;

-- The state of an earlier version that was taken over: at most one.
CREATE TABLE taken_over (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    uses INTEGER NOT NULL,
    revoked INTEGER NOT NULL
) STRICT;

CREATE TABLE connections (
    id TEXT NOT NULL PRIMARY KEY,
    member TEXT NOT NULL,
    service TEXT NOT NULL,
    label TEXT NOT NULL,
    account TEXT NOT NULL,
    host TEXT NOT NULL,
    cap TEXT NOT NULL CHECK (cap IN ('read', 'write')),
    dial TEXT NOT NULL CHECK (dial IN ('real', 'overridden')),
    gen INTEGER NOT NULL CHECK (gen >= 0),
    created_at INTEGER NOT NULL,
    sealed BLOB NOT NULL CHECK (length(sealed) > 0),
    UNIQUE (member, service, label)
) STRICT;

CREATE TABLE grants (
    id TEXT NOT NULL PRIMARY KEY,
    member TEXT NOT NULL,
    bot TEXT NOT NULL,
    connection TEXT NOT NULL REFERENCES connections (id),
    service TEXT NOT NULL,
    access TEXT NOT NULL CHECK (access IN ('read', 'write')),
    expires_at INTEGER NOT NULL,
    sealed BLOB NOT NULL CHECK (length(sealed) > 0)
) STRICT;
CREATE INDEX grants_bot ON grants (bot, service);
CREATE INDEX grants_connection ON grants (connection);

-- `until` is when the approval expires; `sealed` is there while it waits to be used.
CREATE TABLE questions (
    id TEXT NOT NULL PRIMARY KEY,
    member TEXT NOT NULL,
    service TEXT NOT NULL,
    op TEXT NOT NULL,
    args TEXT NOT NULL,
    manifest TEXT NOT NULL,
    connection TEXT NOT NULL,
    account TEXT NOT NULL,
    bot TEXT NOT NULL,
    action TEXT NOT NULL,
    found TEXT NOT NULL,
    raised_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL CHECK (expires_at > raised_at),
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'used')),
    answered_at INTEGER,
    grant_id TEXT,
    until INTEGER,
    sealed BLOB CHECK (length(sealed) > 0),
    CHECK ((sealed IS NOT NULL) = (state = 'approved')),
    CHECK ((grant_id IS NULL) = (until IS NULL)),
    CHECK (state NOT IN ('approved', 'used') OR (grant_id IS NOT NULL AND answered_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX questions_open ON questions (member, action) WHERE state IN ('pending', 'approved');
CREATE INDEX questions_member ON questions (member, bot, state);
CREATE INDEX questions_bot ON questions (bot);
CREATE INDEX questions_connection ON questions (connection);
