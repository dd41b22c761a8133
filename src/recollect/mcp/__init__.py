"""
The MCP server: tools, resources and prompts for any MCP client.

`stdio_transport` serves one client over pipes, `http_transport` many at `/mcp` of the memory
server; both use `mcp_server`. The tools call the Python API and do not depend on the protocol.
"""
