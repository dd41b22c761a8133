"""`python -m recollect` is the command `recollect`."""

from recollect.entry import main

main()
