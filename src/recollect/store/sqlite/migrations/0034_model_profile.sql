-- The scale of a model's similarities, and whether its texts are glossed: measured when the store first uses the model.
-- JSON; NULL for a model that was not measured, or whose embedder knows it.
ALTER TABLE models ADD COLUMN profile TEXT;
