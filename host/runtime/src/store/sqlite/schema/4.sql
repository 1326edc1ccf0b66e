-- Version 4.

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
