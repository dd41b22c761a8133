"""Add the MCP server and the hooks to a client's settings, and remove them completely."""
