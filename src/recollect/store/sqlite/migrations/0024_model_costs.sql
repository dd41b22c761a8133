-- What a call of a language model cost, and a run in all, in US dollars.
--
-- NULL: the price of the model is not known, which is not the same as free.
ALTER TABLE model_calls ADD COLUMN cost_usd REAL;
ALTER TABLE runs ADD COLUMN cost_usd REAL;
