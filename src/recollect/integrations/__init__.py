"""
The memory protocols of agent frameworks, one file each.

A file imports its framework, so import only the one you use. None is a dependency of Recollect.
"""
