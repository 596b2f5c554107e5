"""Pictures drawn by matplotlib, into a file or into memory; nothing else imports it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
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
    with settings():
        found = BytesIO()
        figure_of(picture).savefig(
            found,
            format=form,
            dpi=_DOTS_PER_INCH,
            metadata={**_META[form], "Title": _printable(picture.title)},
            bbox_inches="tight",
            pad_inches=_MARGIN_IN_INCHES,
        )
        return found.getvalue()


def figure_of(picture: Picture) -> Figure:
    """The picture as matplotlib has it, in the settings that hold just now."""
    from derive.draw_axes import draw_axes
    from derive.draw_bars import draw_bars

    shown: Picture = _printable(picture)
    return draw_bars(shown) if shown.bars else draw_axes(shown)


def _printable(value: Any) -> Any:
    """The value, in its texts nothing that a file of XML may not hold: names come from anywhere."""
    if isinstance(value, str):
        return "".join(sign if _is_printable(sign) else "\ufffd" for sign in value)
    if isinstance(value, tuple):
        return tuple(map(_printable, value))
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _printable(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **parts)
    return value


def _is_printable(sign: str) -> bool:
    return sign.isprintable() or sign == "\n" or category(sign) == "Zs"


def _refuse_without_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        message = "pictures are drawn by matplotlib, which is not installed"
        raise Problem("plot", message, ("pip install 'derive-llm[plot]'  installs it",)) from None


@contextmanager
def settings() -> Iterator[None]:
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
