"""The systems whose speed is compared, behind one protocol."""
