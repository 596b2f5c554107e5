"""Pictures drawn by matplotlib, into a file or into memory; nothing else imports it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import category

from derive.files import checked_file, unwritable
from derive.picture import Picture
from formulas.errors import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")
_EXAMPLE = "example: to picture.svg"
# Text stays text in an SVG, and the same picture is the same file, whenever it is drawn.
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "derive",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
}
_META: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": "derive"},
    "png": {"Software": "derive"},
}
_DOTS_PER_INCH = 150
_MARGIN_IN_INCHES = 0.15


def checked_picture(text: str) -> Path:
    """The path of a file that a picture may be written to; Problem for any other.

    Problem too where matplotlib lacks: nobody waits for an answer that cannot be drawn.
    """
    wanted = "a picture is written to a file in .svg or .png"
    path = checked_file(text, FORMATS, wanted, _EXAMPLE)
    _refuse_without_matplotlib()
    return path


def write(picture: Picture, path: Path) -> None:
    """Write the picture, in the format that the file's name ends with; Problem where that fails."""
    found = drawn(picture, path.suffix.lower().removeprefix("."))
    try:
        path.write_bytes(found)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def drawn(picture: Picture, form: str) -> bytes:
    """The picture as `svg` or `png`; Problem where matplotlib lacks."""
    _refuse_without_matplotlib()
    with _settings():
        found = BytesIO()
        figure_of(picture).savefig(
            found,
            format=form,
            dpi=_DOTS_PER_INCH,
            metadata={**_META[form], "Title": printable(picture.title)},
            bbox_inches="tight",
            pad_inches=_MARGIN_IN_INCHES,
        )
        return found.getvalue()


def figure_of(picture: Picture) -> Figure:
    """The picture as matplotlib has it, in the settings that hold just now."""
    from derive.draw_axes import draw_axes
    from derive.draw_bars import draw_bars

    return draw_bars(picture) if picture.bars else draw_axes(picture)


def printable(text: str) -> str:
    """The text without what no file of XML may hold: names come from anywhere."""
    shown = (s if s.isprintable() or category(s) == "Zs" else "\ufffd" for s in text)
    return "".join(shown)


def _refuse_without_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        message = "pictures are drawn by matplotlib, which is not installed"
        raise Problem("plot", message, ("pip install 'derive-llm[plot]'  installs it",)) from None


@contextmanager
def _settings() -> Iterator[None]:
    """The look of a picture, and nothing said of fonts; afterwards all is as it was."""
    from matplotlib import rc_context

    log = logging.getLogger("matplotlib")
    level = log.level
    with warnings.catch_warnings():
        # A sign that the font lacks is drawn as a box.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        log.setLevel(logging.ERROR)
        try:
            with rc_context(_SETTINGS):
                yield
        finally:
            log.setLevel(level)
