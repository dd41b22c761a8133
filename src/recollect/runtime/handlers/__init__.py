"""Which function of the runtime carries out which request."""
