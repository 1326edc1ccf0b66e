-- Version 1. A `member` is the id of her key; where only a grant's id is known, it is NULL. Texts are compared byte by byte, as
-- the other store does.

-- How many steps were taken: one row.
CREATE TABLE schema (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    version BIGINT NOT NULL
);
INSERT INTO schema (one, version) VALUES (1, 0);

-- How many uses of a grant are spent.
CREATE TABLE uses (
    grant_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    member TEXT COLLATE "C",
    spent BIGINT NOT NULL CHECK (spent BETWEEN 1 AND 4294967295)
);

-- Grants that are refused for good.
CREATE TABLE revoked (
    grant_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    member TEXT COLLATE "C"
);

-- The latest time seen by any program on this database, in seconds since 1970-01-01 UTC. No row of it is a member's.
CREATE TABLE clock (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    latest BIGINT NOT NULL
);

CREATE TABLE connections (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    member TEXT COLLATE "C" NOT NULL,
    service TEXT COLLATE "C" NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    host TEXT COLLATE "C" NOT NULL,
    cap TEXT COLLATE "C" NOT NULL CHECK (cap IN ('read', 'write')),
    dial TEXT COLLATE "C" NOT NULL CHECK (dial IN ('real', 'overridden')),
    gen BIGINT NOT NULL CHECK (gen >= 0),
    created_at BIGINT NOT NULL,
    sealed BYTEA NOT NULL CHECK (length(sealed) > 0),
    UNIQUE (member, service, label)
);

-- Connections that were removed, or gave way to one of another account: no grant of them opens any more, whoever holds it.
CREATE TABLE ended (
    connection TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    member TEXT COLLATE "C" NOT NULL
);

CREATE TABLE grants (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    member TEXT COLLATE "C" NOT NULL,
    bot TEXT COLLATE "C" NOT NULL,
    connection TEXT COLLATE "C" NOT NULL REFERENCES connections (id),
    service TEXT COLLATE "C" NOT NULL,
    access TEXT COLLATE "C" NOT NULL CHECK (access IN ('read', 'write')),
    expires_at BIGINT NOT NULL,
    sealed BYTEA NOT NULL CHECK (length(sealed) > 0)
);
CREATE INDEX grants_bot ON grants (bot, service);
CREATE INDEX grants_connection ON grants (connection);

-- `until` is when the approval expires; `sealed` is there while it waits to be used. `principal` is the empty text for the
-- host's own. `seq` is the order in which they were raised.
CREATE TABLE questions (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    member TEXT COLLATE "C" NOT NULL,
    service TEXT COLLATE "C" NOT NULL,
    op TEXT COLLATE "C" NOT NULL,
    args TEXT COLLATE "C" NOT NULL,
    manifest TEXT COLLATE "C" NOT NULL,
    connection TEXT COLLATE "C" NOT NULL,
    account TEXT COLLATE "C" NOT NULL,
    bot TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    found TEXT COLLATE "C" NOT NULL,
    raised_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL CHECK (expires_at > raised_at),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'used')),
    answered_at BIGINT,
    grant_id TEXT COLLATE "C",
    until BIGINT,
    sealed BYTEA CHECK (length(sealed) > 0),
    CHECK ((sealed IS NOT NULL) = (state = 'approved')),
    CHECK ((grant_id IS NULL) = (until IS NULL)),
    CHECK (state NOT IN ('approved', 'used') OR (grant_id IS NOT NULL AND answered_at IS NOT NULL))
);
CREATE UNIQUE INDEX questions_open ON questions (member, principal, action) WHERE state IN ('pending', 'approved');
CREATE INDEX questions_member ON questions (member, bot, state);
CREATE INDEX questions_bot ON questions (bot);
CREATE INDEX questions_connection ON questions (connection);
CREATE INDEX questions_grant ON questions (grant_id);

-- Callers that a door tells apart by their bearer tokens, and what each token may do. Of a token only its SHA-256 is here.
-- `services` is a JSON array of service ids; NULL: all. `seq` is the order in which they were made.
CREATE TABLE tokens (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    member TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    sha256 TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(sha256) = 64),
    reads BOOLEAN NOT NULL,
    writes BOOLEAN NOT NULL,
    services TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL CHECK (expires_at > created_at),
    revoked_at BIGINT,
    CHECK (reads OR writes)
);
-- A name is free again once its token is revoked.
CREATE UNIQUE INDEX tokens_name ON tokens (member, name) WHERE revoked_at IS NULL;

-- Writes under their callers' keys. `id` and `act` are digests that only the bot can make; `sealed` is the outcome, for the bot.
CREATE TABLE kept (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    act TEXT COLLATE "C" NOT NULL,
    member TEXT COLLATE "C" NOT NULL,
    bot TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('begun', 'unknown', 'done')),
    begun_at BIGINT NOT NULL,
    over_by BIGINT NOT NULL,
    kept_until BIGINT NOT NULL CHECK (kept_until > begun_at),
    sealed BYTEA CHECK (length(sealed) > 0),
    CHECK ((sealed IS NOT NULL) = (state = 'done'))
);
CREATE INDEX kept_age ON kept (member, bot, begun_at);

-- Receipts. The bytes in `body` are what is hashed; the columns beside it are what a receipt is found by, and say what it
-- says. One chain a bot.
CREATE TABLE receipts (
    bot TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL CHECK (seq > 0),
    hash TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    member TEXT COLLATE "C",
    at BIGINT NOT NULL,
    connection TEXT COLLATE "C",
    service TEXT COLLATE "C" NOT NULL,
    op TEXT COLLATE "C" NOT NULL,
    code TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (bot, seq)
);

-- Runs that have begun to send and have not ended; `facts` is what their receipt says where they never do. `seq` is the order
-- in which they began.
CREATE TABLE begun (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq BIGINT GENERATED ALWAYS AS IDENTITY,
    bot TEXT COLLATE "C" NOT NULL,
    process TEXT COLLATE "C" NOT NULL,
    member TEXT COLLATE "C",
    facts TEXT COLLATE "C" NOT NULL
);
CREATE INDEX begun_bot ON begun (bot, seq);

-- Where a bot's chain stood at a time, signed by the bot; of whichever members' runs. `pruned` where all up to it was removed
-- on purpose.
CREATE TABLE checkpoints (
    bot TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL CHECK (seq > 0),
    pruned BOOLEAN NOT NULL,
    at BIGINT NOT NULL,
    envelope BYTEA NOT NULL CHECK (length(envelope) > 0),
    PRIMARY KEY (bot, seq, pruned)
);

-- Renewals. A line is a family of token pairs; `id` is the keyed digest of its first, `sealed` the newest, sealed to the bot
-- that renewed it.
CREATE TABLE lines (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(id) = 43),
    member TEXT COLLATE "C" NOT NULL,
    bot TEXT COLLATE "C" NOT NULL,
    credential TEXT COLLATE "C" NOT NULL,
    service TEXT COLLATE "C" NOT NULL,
    gen BIGINT NOT NULL CHECK (gen >= 0),
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('live', 'sent', 'dead')),
    tries BIGINT NOT NULL CHECK (tries BETWEEN 0 AND 5),
    failures BIGINT NOT NULL CHECK (failures BETWEEN tries AND 4294967295),
    again_at BIGINT,
    newest TEXT COLLATE "C" NOT NULL CHECK (length(newest) = 43),
    sealed BYTEA CHECK (length(sealed) > 0),
    CHECK (sealed IS NOT NULL OR newest = id),
    CHECK (state <> 'live' OR tries = 0),
    CHECK (state <> 'sent' OR (tries > 0 AND again_at IS NOT NULL))
);
CREATE INDEX lines_member ON lines (member, credential);

-- Every pair of a line leads to it, by its keyed digest, for good: an old one that were forgotten would begin a line of its
-- own, and be sent once more.
CREATE TABLE pairs (
    digest TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(digest) = 43),
    member TEXT COLLATE "C" NOT NULL,
    line TEXT COLLATE "C" NOT NULL REFERENCES lines (id) ON DELETE CASCADE
);
CREATE INDEX pairs_line ON pairs (line);

-- Pairs that wait for their member: the newest of each connection, sealed to her.
CREATE TABLE returned (
    member TEXT COLLATE "C" NOT NULL,
    connection TEXT COLLATE "C" NOT NULL,
    gen BIGINT NOT NULL CHECK (gen > 0),
    sealed BYTEA NOT NULL CHECK (length(sealed) > 0),
    PRIMARY KEY (member, connection)
);
