"""derive: a symbolic calculator and constraint solver for LLM inference."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from derive.session import Reply, Session

__version__ = "0.4.0"
__all__ = ["Reply", "Session", "__version__"]

_HOME = Path(__file__).resolve().parent.parent

# Other distributions own packages of these names; one of them in the way would answer in our place.
for _name in ("formulas", "solvers"):
    _found = find_spec(_name)
    _origin = _found.origin if _found else None
    if not (_origin and Path(_origin).resolve().parent.parent == _HOME):
        raise ImportError(
            f"'{_name}' is {_origin}, not the package next to {_HOME / 'derive'}; "
            "another distribution owns that name here: use a clean environment"
        )


def __getattr__(name: str) -> Any:
    """Session and Reply, imported when they are first asked for."""
    if name in ("Reply", "Session"):
        from derive import session

        return getattr(session, name)
    raise AttributeError(f"module 'derive' has no attribute '{name}'")
