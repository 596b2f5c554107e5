"""How arguments are read, and what is said of those that cannot be."""

from __future__ import annotations

import argparse
import math
from typing import NoReturn

EXIT_USAGE = 2
LONGEST_TIME = 1e8


class Parser(argparse.ArgumentParser):
    """Says what is wrong with an option in the form of every other message."""

    def error(self, message: str) -> NoReturn:
        """End with the message and the exit code of a usage error."""
        self.exit(
            EXIT_USAGE, f"error[usage]: {message}\n  {self.prog} --help shows what it takes\n"
        )


def seconds(text: str) -> float:
    """A limit that a clock can be set to."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not found > 0:
        raise argparse.ArgumentTypeError(f"'{text[:24]}' is no number of seconds above 0")
    return min(found, LONGEST_TIME)
