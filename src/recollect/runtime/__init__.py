"""The agent runtime: the step loop, tools with rules, approvals."""
