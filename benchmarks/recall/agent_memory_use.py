"""
Measure the memory of agents: `python -m benchmarks.recall.agent_memory_use STORE`, names on stdin.

A new process opens the store, loads the model with one question to the first agent, and requests a
bundle for every other agent. Prints its resident memory (MB) before and after. The names are a JSON
list.
"""

import gc
import json
import sys

import psutil

import recollect

QUESTION = "what did we decide about the deployment?"


def main() -> int:
    path, (first, *others) = sys.argv[1], json.load(sys.stdin)
    with recollect.open(path) as rec:
        rec.context_for(QUESTION, agent=first, budget_tokens=8_000)
        before = _resident_mb()
        for agent in others:
            rec.conversations.search(QUESTION, agent=agent)
            rec.context_for(QUESTION, agent=agent, budget_tokens=8_000)
        after = _resident_mb()
    print(json.dumps({"before_mb": before, "after_mb": after, "agents": len(others)}))
    return 0


def _resident_mb() -> float:
    gc.collect()
    return float(psutil.Process().memory_info().rss) / 1e6


if __name__ == "__main__":
    sys.exit(main())
