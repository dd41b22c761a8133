"""
Agents: who they are, what is always in their context, and how full their context window is.

Two things wait here for a decision: tool calls of agents that run, and proposals, which are edits
of shared blocks that agents asked for.
"""

import json
from urllib.parse import quote

from starlette.responses import Response
from starlette.routing import Route

from recollect.api.conversation_titles import conversation_titles
from recollect.domain.context_bundle import WindowOverview
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.web.downloads import download
from recollect.web.line_diff import diff_lines
from recollect.web.page import PageRequest, page
from recollect.web.place_names import PlaceNames

CONVERSATIONS = 10
RETRIEVALS = 10
# Where each part of a context window can be seen.
PART_LINKS = {
    "system": "#system",
    "blocks": "#blocks",
    "metadata": "#blocks",
    "summary": "#conversations",
    "messages": "#conversations",
    "tools": "",
    "files": "",
}


@dataclass(frozen=True, kw_only=True)
class WindowPart:
    """One part of a context window: its tokens, and where its bar starts and how wide it is."""

    name: str
    tokens: int
    start: float
    width: float
    href: str


def show_agents(request: PageRequest) -> Response:
    """List the agents, the shared blocks and the proposals."""
    agents = request.rec.agents.list()
    if (file := download(request, "agents", agents)) is not None:
        return file
    blocks = request.rec.blocks.list()
    proposals = request.rec.blocks.proposals()
    return request.render(
        "agents.html",
        agents=agents,
        shared=[block for block in blocks if block.scope != "agent"],
        names=PlaceNames.read(request.rec),
        approvals=[
            (approval, json.dumps(dict(approval.arguments), indent=2, ensure_ascii=False))
            for approval in request.rec.agents.approvals()
        ],
        proposals=[
            (proposal, diff_lines(proposal.current_value, proposal.value)) for proposal in proposals
        ],
    )


def show_agent(request: PageRequest) -> Response:
    """Show one agent."""
    rec = request.rec
    agent = rec.agents.get(request.path("agent"))
    conversations = rec.conversations.list(agent=agent, limit=CONVERSATIONS)
    window = rec.agents.context_window(
        agent, conversation=conversations[0] if conversations else None
    )
    return request.render(
        "agent.html",
        agent=agent,
        blocks=rec.blocks.list(agent),
        window=window,
        parts=window_parts(window),
        conversations=conversations,
        titles=conversation_titles(rec, conversations),
        retrievals=rec.retrievals.list(agent=agent, limit=RETRIEVALS),
    )


def decide_proposal(request: PageRequest) -> Response:
    """Accept or reject a proposal, or undo that."""
    proposal_id, verdict = request.value("proposal"), request.value("verdict")
    if verdict == "accept":
        request.rec.blocks.accept(proposal_id)
        return request.redirect("/ui/agents", "Accepted. The block has the new text.")
    if verdict == "reject":
        request.rec.blocks.reject(proposal_id, request.value("reason"))
        return request.redirect("/ui/agents", "Rejected. The block is unchanged.")
    raise InvalidInput(f"the verdict is accept or reject, not {verdict!r}")


def decide_approval(request: PageRequest) -> Response:
    """Approve or deny a tool call; after the last one of a run, wait until the run has ended."""
    verdict = request.value("verdict")
    if verdict not in ("approve", "always", "deny"):
        raise InvalidInput(f"the verdict is approve, always or deny, not {verdict!r}")
    result = request.rec.agents.decide(
        request.value("approval"),
        verdict != "deny",
        reason=request.value("reason"),
        always=verdict == "always",
    )
    if result.approvals:
        return request.redirect("/ui/agents", "Decided. The agent asks for another call.")
    target = f"/ui/conversations/{quote(result.conversation_id, safe='')}"
    return request.redirect(target, f"Decided. The run stopped: {result.stop_reason}.")


def window_parts(window: WindowOverview) -> list[WindowPart]:
    """Return the parts of a context window that are not empty, as a stacked bar of 100 units."""
    total = max(window.window_tokens, window.used, 1)
    parts: list[WindowPart] = []
    start = 0.0
    for name, href in PART_LINKS.items():
        tokens = getattr(window, name)
        if tokens:
            width = 100 * tokens / total
            part = WindowPart(name=name, tokens=tokens, start=start, width=width, href=href)
            parts.append(part)
            start += width
    return parts


routes = [
    Route("/agents", page(show_agents), methods=["GET"]),
    Route("/agents/proposals", page(decide_proposal), methods=["POST"]),
    Route("/agents/approvals", page(decide_approval), methods=["POST"]),
    Route("/agents/{agent}", page(show_agent), methods=["GET"]),
]
