"""Moving an agent: files of our own and Letta's, copies, branches, merges."""
