"""
Sleeptime without a model, over the sessions of the daily-life benchmark.

    python -m benchmarks.sleeptime FOLDER_OF_DAILY [--list]

Each session is stored as a conversation and ended, so that a run of sleeptime reads it. A proposal
(a candidate or active memory, or a line for a block) counts as acceptable if it covers a fact that
a careful reader wants remembered, by the rules of that benchmark. At the end all runs are undone,
the last one first; after each undo the blocks, proposals and memories must be as they were before.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import recollect
from recollect import LocalRecollect, SleeptimeRun, Status
from recollect.domain.memory import MemoryType

FREQUENCY = 4
SHOWN = [status.value for status in Status if status is not Status.ARCHIVED]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder with daily.py and dev")
    parser.add_argument("--list", action="store_true", help="print every proposal")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.folder))
    import daily  # the runner of the benchmark, which is not part of the project

    failed = 0
    for name in ("mara", "ruth"):
        persona = daily.Persona.read(arguments.folder / "dev" / name)
        with (
            tempfile.TemporaryDirectory() as folder,
            recollect.open(Path(folder) / "memory.db") as rec,
        ):
            failed += measure(daily, persona, rec, name, show=arguments.list)
    return 1 if failed else 0


def measure(daily: Any, persona: Any, rec: LocalRecollect, name: str, *, show: bool) -> int:
    matcher = daily.Matcher(persona.facts)
    before: list[tuple[SleeptimeRun, dict[str, Any]]] = []
    for session in persona.sessions:
        snapshot = state_of(rec)
        before += [(run, snapshot) for run in replay(daily, rec, session)]
    counts: Counter[str] = Counter()
    for run, _ in before:
        for kind, text, quotes in proposals_of(rec, run):
            is_accepted = bool(matcher.covered(f"{text}\n{quotes}"))
            counts[kind] += 1
            counts[f"{kind}, acceptable"] += is_accepted
            if show:
                print(f"{'+' if is_accepted else '-'} {kind}: {text}")
    lost = rec.maintenance.verify().problems
    restored = undo_all(rec, before)
    print(f"{name}: {len(before)} runs, {sum(len(run.edits) for run, _ in before)} edits of blocks")
    for kind in sorted({key.partition(",")[0] for key in counts}):
        total, accepted = counts[kind], counts[f"{kind}, acceptable"]
        print(f"  {kind:<28} {total:>4}  acceptable {accepted:>4} ({accepted / total:.0%})")
    print(f"  undone byte for byte         {restored} of {len(before)}; problems {len(lost)}")
    return len(before) - restored + len(lost)


def replay(daily: Any, rec: LocalRecollect, session: dict[str, Any]) -> list[SleeptimeRun]:
    """Store a session as a conversation and end it; return the runs that read it."""
    agent = session["agent"]
    if agent not in {item.name for item in rec.agents.list()}:
        rec.agents.create(agent, metadata={"runtime": {"sleeptime_agent_frequency": FREQUENCY}})
    conversation = rec.conversations.start(
        agent=agent, project=session["project"], started_at=session["at"]
    )
    messages = daily.with_times(session)
    rec.conversations.append_many(conversation, messages)
    rec.conversations.end(conversation, ended_at=messages[-1]["created_at"])
    rec.drain()
    runs = rec.agents.sleeptime_runs(agent, limit=200)
    return [run for run in runs if run.conversation_id == conversation.id]


def proposals_of(rec: LocalRecollect, run: SleeptimeRun) -> list[tuple[str, str, str]]:
    """Return what a run proposes: its kind, its text, and the quotes behind it."""
    proposals = []
    for memory_id in run.memory_ids:
        memory = rec.memories.get(memory_id)
        if memory.type is MemoryType.EPISODE or memory.status is Status.STATED:
            continue  # the record of a session, and what is not proposed to anybody
        if memory.status is Status.ARCHIVED:
            continue  # merged into a memory that says the same
        quotes = "\n".join(evidence.quote for evidence in memory.evidence)
        is_applied = memory.status is not Status.INBOX
        kind = "memory, applied" if is_applied else "memory, in the inbox"
        proposals.append((kind.replace(",", ":"), memory.content, quotes))
    for edit in run.edits:
        if not edit.proposal_id:
            continue
        proposal = rec.blocks.proposal(edit.proposal_id)
        earlier = (
            rec.blocks.proposal(edit.replaced_proposal_id) if edit.replaced_proposal_id else None
        )
        former = (earlier.value if earlier else proposal.base_value).split("\n")
        lines = (line for line in proposal.value.split("\n") if line not in former)
        proposals += [(f"line for block {edit.label}", line, "") for line in lines]
    return proposals


def state_of(rec: LocalRecollect) -> dict[str, Any]:
    """Return everything that a run may change."""
    memories = rec.memories.list(everywhere=True, statuses=SHOWN, limit=1_000)
    return {
        "blocks": sorted((block.id, block.value.encode()) for block in rec.blocks.list()),
        "memories": sorted((item.id, item.content, item.status.value) for item in memories),
        "proposals": sorted((item.label, item.value) for item in rec.blocks.proposals()),
    }


def undo_all(rec: LocalRecollect, before: list[tuple[SleeptimeRun, dict[str, Any]]]) -> int:
    """Undo the runs, the last one first; return how many left everything as it was."""
    restored = 0
    for run, snapshot in reversed(before):
        rec.agents.undo_sleeptime(run.id)
        now = state_of(rec)
        # A block that is made when it is first written stays, empty.
        now["blocks"] = [item for item in now["blocks"] if item in snapshot["blocks"] or item[1]]
        if now == snapshot:
            restored += 1
        else:
            for part in now:
                missing = [item for item in snapshot[part] if item not in now[part]]
                new = [item for item in now[part] if item not in snapshot[part]]
                print(f"  not restored, {part}: missing {missing[:3]}, new {new[:3]}")
    return restored


if __name__ == "__main__":
    sys.exit(main())
