"""The baseline of `benchmarks.mcp_tools`: a bare `MCPServer` whose only tool returns a constant."""

import json
import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

server = MCPServer("bare", log_level="ERROR")


@server.tool()
def constant() -> dict[str, str]:
    return {"text": "constant"}


def main() -> None:
    if sys.argv[1:] == ["stdio"]:
        server.run("stdio")
        return
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        print(json.dumps({"url": f"http://127.0.0.1:{bound.getsockname()[1]}"}, indent=1))
        sys.stdout.flush()
        config = uvicorn.Config(server.streamable_http_app(), http="h11", log_level="error")
        uvicorn.Server(config).run(sockets=[bound])


if __name__ == "__main__":
    main()
