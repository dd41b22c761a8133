-- What the last sync could not read or store, for `recollect sync status`: names of files and ids of records, no words.
CREATE TABLE sync_problems (
    position INTEGER PRIMARY KEY,
    problem  TEXT NOT NULL
) STRICT;
