"""Which function of the service carries out which request, in one file per noun."""
