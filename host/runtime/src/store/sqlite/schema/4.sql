-- Version 4.

-- Renewals. A line is a family of token pairs; `id` is the keyed digest of its first, `sealed` the newest, sealed to the bot
-- that renewed it.
CREATE TABLE lines (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 43),
    member TEXT NOT NULL,
    bot TEXT NOT NULL,
    credential TEXT NOT NULL,
    service TEXT NOT NULL,
    gen INTEGER NOT NULL CHECK (gen >= 0),
    state TEXT NOT NULL CHECK (state IN ('live', 'sent', 'dead')),
    tries INTEGER NOT NULL CHECK (tries BETWEEN 0 AND 5),
    failures INTEGER NOT NULL CHECK (failures >= tries),
    again_at INTEGER,
    newest TEXT NOT NULL CHECK (length(newest) = 43),
    sealed BLOB CHECK (length(sealed) > 0),
    CHECK (sealed IS NOT NULL OR newest = id),
    CHECK (state <> 'live' OR tries = 0),
    CHECK (state <> 'sent' OR (tries > 0 AND again_at IS NOT NULL))
) STRICT;
CREATE INDEX lines_member ON lines (member, credential);

-- Every pair of a line leads to it, by its keyed digest, for good: an old one that were forgotten would begin a line of its
-- own, and be sent once more.
CREATE TABLE pairs (
    digest TEXT NOT NULL PRIMARY KEY CHECK (length(digest) = 43),
    member TEXT NOT NULL,
    line TEXT NOT NULL REFERENCES lines (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX pairs_line ON pairs (line);

-- Pairs that wait for their member: the newest of each connection, sealed to her.
CREATE TABLE returned (
    member TEXT NOT NULL,
    connection TEXT NOT NULL,
    gen INTEGER NOT NULL CHECK (gen > 0),
    sealed BLOB NOT NULL CHECK (length(sealed) > 0),
    PRIMARY KEY (member, connection)
) STRICT;

-- Writes under their callers' keys. `id` and `act` are digests that only the bot can make; `sealed` is the outcome, for the bot.
CREATE TABLE kept (
    id TEXT NOT NULL PRIMARY KEY,
    act TEXT NOT NULL,
    member TEXT NOT NULL,
    bot TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('begun', 'unknown', 'done')),
    begun_at INTEGER NOT NULL,
    over_by INTEGER NOT NULL,
    kept_until INTEGER NOT NULL CHECK (kept_until > begun_at),
    sealed BLOB CHECK (length(sealed) > 0),
    CHECK ((sealed IS NOT NULL) = (state = 'done'))
) STRICT;
CREATE INDEX kept_age ON kept (member, bot, begun_at);

-- Receipts. The bytes in `body` are what is hashed; the columns beside it are what a receipt is found by, and say what it
-- says. One chain a bot.
CREATE TABLE receipts (
    bot TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    member TEXT,
    at INTEGER NOT NULL,
    connection TEXT,
    service TEXT NOT NULL,
    op TEXT NOT NULL,
    code TEXT NOT NULL,
    PRIMARY KEY (bot, seq)
) STRICT;

-- Runs that have begun to send and have not ended; `facts` is what their receipt says where they never do.
CREATE TABLE begun (
    id TEXT NOT NULL PRIMARY KEY,
    bot TEXT NOT NULL,
    process TEXT NOT NULL,
    member TEXT,
    facts TEXT NOT NULL
) STRICT;

-- Where a bot's chain stood at a time, signed by the bot; of whichever members' runs. `pruned` is 1 where all up to it was
-- removed on purpose.
CREATE TABLE checkpoints (
    bot TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    pruned INTEGER NOT NULL CHECK (pruned IN (0, 1)),
    at INTEGER NOT NULL,
    envelope BLOB NOT NULL CHECK (length(envelope) > 0),
    PRIMARY KEY (bot, seq, pruned)
) STRICT, WITHOUT ROWID;
