-- Writes that arrive over a network may be sent twice. The key of each is kept for a day in the same
-- transaction as the write itself, so that it is carried out once, whatever breaks in between.
CREATE TABLE requests (
    key         TEXT PRIMARY KEY NOT NULL,
    fingerprint TEXT NOT NULL,              -- of what was asked: a key stands for one request
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_age ON requests(created_at);
