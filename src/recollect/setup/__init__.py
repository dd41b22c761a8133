"""Setting up a client: its settings get the MCP server and the hooks, and lose them again whole."""
