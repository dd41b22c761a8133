"""Train and measure the learned judges of the engine (recollect.engine.judges)."""
