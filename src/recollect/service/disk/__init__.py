"""What is read from and written to the user's disk: files inside a wall, git, skill folders."""
