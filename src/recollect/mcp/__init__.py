"""
The MCP door: a few tools, resources and prompts for any agent that speaks the protocol.

`stdio.py` serves one client over pipes, `http.py` many at `/mcp` of the memory server; both ask the
same `server.py`. The tools are written against the Python door and know nothing of the protocol.
"""
