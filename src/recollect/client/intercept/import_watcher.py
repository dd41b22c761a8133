"""
Act on a module of the caller's program as soon as it is loaded, without loading it ourselves.

Some packages are slow to load and seldom used. `after_import` acts at once if a module is loaded,
and otherwise when the program imports it; `stop_watching` ends all waiting.
"""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

Action = Callable[[ModuleType], None]


def after_import(name: str, act: Action) -> None:
    """Call *act* with the module *name*, now or when it is imported."""
    module = sys.modules.get(name)
    if module is not None:
        act(module)
    else:
        sys.meta_path.insert(0, _ImportWatcher(name, act))


def stop_watching() -> None:
    """Wait for no module any more."""
    sys.meta_path[:] = [item for item in sys.meta_path if not isinstance(item, _ImportWatcher)]


class _ImportWatcher(MetaPathFinder):
    """Finds one module, with a loader that acts on it, and then is gone."""

    def __init__(self, name: str, act: Action) -> None:
        self._name = name
        self._act = act

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the module; None for any other, which the other finders look for."""
        if name != self._name:
            return None
        sys.meta_path[:] = [item for item in sys.meta_path if item is not self]
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _ActingLoader(spec.loader, self._act)
        return spec


class _ActingLoader(Loader):
    """Loads a module with its own loader, and then acts on it."""

    def __init__(self, loader: Loader, act: Action) -> None:
        self._loader = loader
        self._act = act

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as its own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module as its own loader does, and act on it."""
        self._loader.exec_module(module)
        self._act(module)
