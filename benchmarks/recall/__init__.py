"""What an agent's past costs: writing it down, searching it, and the bundle made of it."""
