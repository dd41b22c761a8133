"""Read and write the user's files: files inside allowed folders, git, skill folders."""
