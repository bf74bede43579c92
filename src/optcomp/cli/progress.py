"""A progress bar on a terminal, for work that lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import optcomp as oc

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 0.5
"""Seconds of work before a bar appears."""

Tell = Callable[[str, float], None]


@contextmanager
def working(what: str, *, follow: bool = True) -> Iterator[Tell]:
    """Show a bar on stderr while the block runs, if that is a terminal and the block takes more than half a second.

    The bar follows what the library reports; with `follow=False` only what the block itself tells.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ignore
        return
    bar = _Bar(console, what)
    try:
        with oc.listening(bar.tell if follow else _ignore):
            yield bar.tell
    finally:
        bar.close()


def _ignore(what: str, share: float) -> None:
    """Nobody is looking."""


class _Bar:
    """A bar that waits before it appears and leaves no trace; it pulses until the first report."""

    def __init__(self, console: Console, what: str) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, transient=True)
        self._task = self._progress.add_task(what, total=None)
        self._timer = threading.Timer(PATIENCE, self._progress.start)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, what: str, share: float) -> None:
        """Move the bar."""
        self._progress.update(self._task, description=what, completed=share, total=1.0)

    def close(self) -> None:
        """Take the bar away, or never show it."""
        self._timer.cancel()
        self._timer.join()
        self._progress.stop()
