"""The MCP tools, one per module."""
