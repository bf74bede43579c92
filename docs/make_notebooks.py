"""Run the notebooks of docs/notebooks and store what their cells print: `python docs/make_notebooks.py [FILE ...]`.

The notebooks are edited directly, with Jupyter or without.  This runs the code cells of each in order, in one
namespace, and stores the printed text and the pictures.  Jupyter is not needed; `tests/docs/test_notebooks.py` runs
the same cells again.
"""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

NOTEBOOKS = Path(__file__).parent / "notebooks"

Json = dict[str, Any]


def lines(text: str) -> list[str]:
    """Text as notebooks keep it: a list of lines with their ends."""
    return text.splitlines(keepends=True)


def run(notebook: Json) -> Iterator[tuple[Json, list[Json]]]:
    """Each code cell with the outputs it has when all are run in order."""
    namespace: Json = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            pictures: list[Json] = []
            with _shown(pictures), redirect_stdout(io.StringIO()) as out:
                exec(compile("".join(cell["source"]), cell["id"], "exec"), namespace)
            printed = out.getvalue()
            stream = {"name": "stdout", "output_type": "stream", "text": lines(printed)}
            yield cell, [*([stream] if printed else []), *pictures]


@contextmanager
def _shown(pictures: list[Json]) -> Iterator[None]:
    """While this lasts, `plt.show()` puts the open figures here, and no window appears."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def show() -> None:
        for number in plt.get_fignums():
            png = io.BytesIO()
            plt.figure(number).savefig(png, dpi=72, bbox_inches="tight", metadata={"Software": None})
            data = {
                "image/png": base64.b64encode(png.getvalue()).decode() + "\n",
                "text/plain": ["<Figure>"],
            }
            pictures.append({"data": data, "metadata": {}, "output_type": "display_data"})
        plt.close("all")

    with patch.object(plt, "show", show):
        yield


def refreshed(notebook: Json) -> Json:
    """The same notebook, with the outputs its cells really have."""
    for count, (cell, outputs) in enumerate(run(notebook), start=1):
        cell["execution_count"], cell["outputs"] = count, outputs
    return notebook


def main(names: list[str]) -> None:
    """Refresh these notebooks, or all."""
    for path in map(Path, names) if names else sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = refreshed(json.loads(path.read_text(encoding="utf8")))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf8")


if __name__ == "__main__":
    main(sys.argv[1:])
