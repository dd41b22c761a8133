"""What an agent gets: sections, budget, citations, text."""
