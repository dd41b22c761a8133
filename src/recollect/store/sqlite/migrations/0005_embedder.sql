-- Which embedder a store uses. The store knows it, not each program that opens it: programs that
-- disagree would embed everything in turns. A change of model takes as long as embedding does; until
-- the wanted one has embedded everything, the vectors of the serving one answer questions.
CREATE TABLE embedder (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    wanted  INTEGER REFERENCES models(id),   -- what was chosen; NULL: the settings decide
    serving INTEGER REFERENCES models(id)    -- whose vectors answer; NULL: nothing is embedded yet
) STRICT;
-- Until now the vectors told: of two models the one with more of them was nearer to being complete.
INSERT INTO embedder (id, serving)
VALUES (1, (SELECT model_id FROM embeddings GROUP BY model_id ORDER BY count(*) DESC, model_id DESC LIMIT 1));
