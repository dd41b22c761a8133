"""What Recollect is measured by: how well it finds, how fast it is, how true its model is."""
