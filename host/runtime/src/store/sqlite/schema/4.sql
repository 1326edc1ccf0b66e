-- Version 4.

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
