"""Draft a skill from a conversation, by rules or from what a language model answers."""
