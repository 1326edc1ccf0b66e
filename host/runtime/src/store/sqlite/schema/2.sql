-- Version 2. Connections that were removed, or gave way to one of another account: no grant of them opens any more, whoever
-- holds it.
CREATE TABLE ended (
    connection TEXT NOT NULL PRIMARY KEY,
    member TEXT NOT NULL
) STRICT, WITHOUT ROWID;
