"""What was typed, line by line in a file, so that a crash loses none of it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "DERIVE_HISTORY"
# Beyond this size the older half is left out.
LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class HistoryFile:
    """The file of the history; None keeps nothing. What cannot be read or written is passed over:
    a full disk must not end a session.
    """

    path: Path | None

    def lines(self) -> list[str]:
        """The lines, oldest first."""
        if self.path is None:
            return []
        try:
            text = self.path.read_bytes().decode("utf-8", "replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if line.strip()]

    def add(self, text: str) -> None:
        """Write each line of the text behind the others at once."""
        lines = [line for line in text.splitlines() if line.strip()]
        if self.path is None or not lines:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            # What a person asks is nobody else's to read.
            with os.fdopen(os.open(self.path, flags, 0o600), "ab") as file:
                file.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        except OSError:
            return

    def shorten(self) -> None:
        """Leave out the older half of a file that has grown too large."""
        try:
            if self.path is None or self.path.stat().st_size <= LARGEST:
                return
            kept = self.path.read_bytes()[-LARGEST // 2 :].partition(b"\n")[2]
            beside = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            beside.touch(0o600)
            beside.write_bytes(kept)
            beside.replace(self.path)
        except OSError:
            return


def history_file() -> HistoryFile:
    """The file that DERIVE_HISTORY names, none where it is empty, else the platform's own."""
    own = os.environ.get(VARIABLE)
    if own is not None:
        return HistoryFile(Path(own).expanduser() if own.strip() else None)
    try:
        return HistoryFile(_state_folder() / "derive" / "history")
    except RuntimeError:  # nobody's home
        return HistoryFile(None)


def _state_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
