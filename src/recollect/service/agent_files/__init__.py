"""Copy, merge, export and import agents: our own file format and Letta's."""
