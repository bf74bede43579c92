"""Writes the documentation into a folder: for a disk, or for any web server.

python -m optcomp.pages.manual_folder build/site
"""

from __future__ import annotations

import shutil
import sys
from importlib.resources import files
from pathlib import Path

import optcomp
from optcomp.pages.manual import INDEX, SEARCH, Manual, manual, search_index
from optcomp.pages.manual_view import page_view
from optcomp.pages.rendering import POLICY, THEMES, environment
from optcomp.pages.words import words

_ASSETS = ("mark.svg", "site.css", "manual.css", "manual.js", "colours.js")
"""What the pages load."""


def write(found: Manual, folder: Path) -> list[str]:
    """Write all pages and files; what was in the folder before is gone."""
    shutil.rmtree(folder, ignore_errors=True)
    template = environment().get_template("manual_folder.html")
    policy = POLICY.replace("; frame-ancestors 'none'", "")  # no browser takes that from within a page
    content: dict[str, bytes] = {**found.files, INDEX: search_index(found).encode()}
    content |= {f"assets/{name}": (files(__package__) / "assets" / name).read_bytes() for name in _ASSETS}
    for address in (*found.pages, SEARCH):
        told = {"t": words(), "version": optcomp.__version__, "policy": policy, "themes": THEMES}
        content[address] = template.render(told | (page_view(found, address) or {})).encode()
    for address, data in content.items():
        (folder / address).parent.mkdir(parents=True, exist_ok=True)
        (folder / address).write_bytes(data)
    return sorted(content)


def main(folder: str) -> None:
    """Write the documentation of this installation."""
    found = manual()
    if found is None:
        sys.exit("this installation came without its documentation")
    print(f"{len(write(found, Path(folder)))} files in {folder}: open index.html there")


if __name__ == "__main__":
    main(*sys.argv[1:])
