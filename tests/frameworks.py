"""
Which package a test of an adapter needs.

The frameworks are in constraints-frameworks.txt, not in constraints.txt. Where one is missing, its
file is not collected; with REQUIRE_FRAMEWORKS=1, as in CI, that is an error.
"""

import os
from importlib.util import find_spec
from pathlib import Path

FRAMEWORKS = {
    "test_agent_framework.py": "agent_framework",
    "test_claude_agent_sdk.py": "claude_agent_sdk",
    "test_google_adk.py": "google.adk",
    "test_langchain.py": "langchain_core",
    "test_langgraph.py": "langgraph",
    "test_learning_cohere.py": "cohere",
    "test_learning_gemini.py": "google.genai",
    "test_learning_ollama.py": "ollama",
    "test_llama_index.py": "llama_index.core",
    "test_openai_agents.py": "agents",
    "test_pydantic_ai.py": "pydantic_ai",
    "test_strands.py": "strands",
}


def lacks_framework(path: Path) -> bool:
    """Return whether a file tests an adapter whose framework is not installed."""
    framework = FRAMEWORKS.get(path.name, "") if path.parent.name == "integrations" else ""
    if not framework or os.environ.get("REQUIRE_FRAMEWORKS"):
        return False
    try:
        return find_spec(framework) is None
    except ModuleNotFoundError:
        return True  # the package above it is missing too
