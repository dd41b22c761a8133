"""What a search costs as the store grows: to a million messages, and as many memories."""
