"""A library that is not installed is missed in one clear line; what it raises itself passes through."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from optcomp import MissingExtra, OptcompError
from optcomp.extras import needed


def test_an_installed_module_is_returned() -> None:
    assert needed("json.decoder", "data") is sys.modules["json.decoder"]


def test_a_missing_library_names_its_extra() -> None:
    with pytest.raises(MissingExtra) as caught:
        needed("no_such_library.part", "plots")
    assert str(caught.value) == "no_such_library is missing: install optcomp[plots]"
    assert (caught.value.name, caught.value.extra) == ("no_such_library", "plots")
    assert isinstance(caught.value, OptcompError)
    assert isinstance(caught.value, ImportError)


def test_what_a_library_itself_misses_passes_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_a_library.py").write_text("import its_missing_half\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="its_missing_half") as caught:
        needed("half_a_library", "data")
    assert not isinstance(caught.value, MissingExtra)
