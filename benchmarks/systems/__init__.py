"""The systems whose speed is compared, each behind the same few verbs."""
