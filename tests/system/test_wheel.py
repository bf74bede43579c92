"""The wheel in clean environments, without a package index: the core alone, and with the extra for a centre.

`make setup` fills the wheelhouse from which everything is installed.  The wheel is built, and each environment made,
once for all workers of a run.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.system.programs import Ended, Programs

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / ".venv" / "wheelhouse"
PARTS = (
    *("pyproject.toml", "setup.py", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    *("src", "docs", "deploy", "bench", "examples", "tests"),
)
"""All that the wheel is built from."""
PAGES = ("README.md", "docs/interactive.md")
"""Where people meet their first examples: without data, and with."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_DATA = re.compile(r"optcomp\.(interactive|release|statistics)\b")
EXTRAS = ("duckdb", "dp_accounting", "ibis", "matplotlib", "opendp", "pandas", "pyarrow", "sqlglot")
"""Libraries that the core does without."""


COMMAND = "from optcomp.cli.main import run; run()"
"""What the script `optcomp` does."""
LOOKED_AT = """
from contextlib import contextmanager
from urllib.request import urlopen
import optcomp.center

def looked_at(serving):
    @contextmanager
    def served():
        with serving() as told:
            for path in ("/", "/calculator", "/sign-in", "/glossary", "/assets/site.css", "/assets/site.js"):
                assert urlopen(told["url"] + path).status == 200, path
            for path in ("/docs", "/docs/guide.html", "/docs/images/compare.png", "/docs/more/CHANGELOG.html"):
                assert urlopen(told["url"] + path).status == 200, path
            yield told
    return served

optcomp.center.demo_server = looked_at(optcomp.center.demo_server)
"""
"""Whoever serves the demonstration looks at its pages: templates, words, assets and documentation are in the wheel."""
DATA = (
    *("duckdb", "ibis", "ibis.backends.duckdb", "opendp.prelude", "optcomp.ledger", "pandas"),
    *("pyarrow.compute", "pyarrow.pandas_compat", "pyarrow.parquet"),
)
"""What programs about data import."""
TABLE = "from optcomp.statistics import *; Table('examples/people.parquet', {'age': Integers(16, 100)})"


class Environment:
    """A virtual environment that holds the wheel and nothing but what it asks for."""

    def __init__(self, place: Path, modules: Sequence[str] = ()) -> None:
        """`modules` are what most programs import."""
        self.bin = place / "bin"
        variables = _variables() | {"TMPDIR": str(place)}  # processes that are killed leave folders behind
        self.programs = Programs("import optcomp.cli.main", modules, python=self.bin / "python", environment=variables)

    def optcomp(self, *args: str) -> Ended:
        """The command, in a process of its own."""
        return self.programs.ended(COMMAND, *args)

    def python(self, code: str) -> str:
        """What a Python program prints."""
        done = self.programs.ended(code)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout


def once(place: Path, make: Callable[[Path], None]) -> Path:
    """What one of several workers makes at a place, and the others wait for; nobody makes it twice."""
    done = place.with_suffix(".done")
    with open(place.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(place)
            done.touch()
    return place


def _install(place: Path, wheel: str) -> None:
    """An environment; the wheel may be followed by an extra in brackets."""
    assert HOUSE.is_dir(), "there is no wheelhouse: run make setup"
    _quietly(sys.executable, "-m", "venv", "--without-pip", str(place))
    pip = (sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--quiet", "--no-compile")
    _quietly(*pip, "--no-index", "--find-links", str(HOUSE), wheel)


def _variables() -> dict[str, str]:
    """The environment of this process without its settings for Python and pip."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    return kept | {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONIOENCODING": "utf-8"}


def _quietly(*call: str) -> None:
    done = subprocess.run(call, capture_output=True, encoding="utf-8", timeout=600, check=False, env=_variables())
    assert done.returncode == 0, done.stderr


def _build(place: Path) -> None:
    """The wheel, from a copy of the sources, so that building leaves nothing behind and finds nothing old."""
    source = place / "source"
    source.mkdir(parents=True)
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, source)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place))
    _quietly(*pip, "--no-index", "--find-links", str(HOUSE), str(source))


def examples(*, data: bool) -> list[tuple[str, str | None]]:
    """Programs of the first pages that need the data extra, or do not, with what each prints where that is fixed."""
    blocks = [block for page in PAGES for block in BLOCK.findall((ROOT / page).read_text(encoding="utf8"))]
    return [
        (text, shown if following == "text" else None)
        for (kind, text), (following, shown) in zip(blocks, [*blocks[1:], ("", "")], strict=True)
        if kind == "python" and bool(NEEDS_DATA.search(text)) == data
    ]


def run_examples(environment: Environment, *, data: bool) -> None:
    found = examples(data=data)
    assert found
    for text, shown in found:
        printed = environment.python(LOOKED_AT + text if "demo_server" in text else text)
        assert shown is None or printed == shown


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run that all workers have, each of which has its own folder in it."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "wheel"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def wheel(shared: Path) -> Path:
    (found,) = once(shared / "built", _build).glob("optcomp-*.whl")
    return found


@pytest.fixture(scope="module")
def core(shared: Path, wheel: Path) -> Iterator[Environment]:
    made = Environment(
        once(shared / "core", lambda place: _install(place, str(wheel))), ["optcomp.composition", "optcomp.checker"]
    )
    with made.programs:
        yield made


@pytest.fixture(scope="module")
def center(shared: Path, wheel: Path) -> Iterator[Environment]:
    place = once(shared / "center", lambda place: _install(place, f"{wheel}[center]"))
    made = Environment(place, DATA)
    with made.programs:
        yield made


@pytest.mark.smoke("built wheel")
def test_core_alone_composes_and_verifies(core: Environment, tmp_path: Path) -> None:
    seen = core.python(f"import importlib.util as u; print([name for name in {EXTRAS} if u.find_spec(name)])")
    assert seen == "[]\n"
    run_examples(core, data=False)
    certificate = str(tmp_path / "certificate.json")
    script = [str(core.bin / "optcomp"), "compose", "0.1x50", "0.2,1e-9x50", "--delta", "1e-6"]
    _quietly(*script, "--certificate", certificate)
    for args in (
        ["verify", certificate],
        ["compare", "gaussian(sigma=4)x10", "--delta", "1e-6", "--json"],
        ["show", "laplace(scale=10)x20"],
        ["theorems", "MV18-1.5"],
    ):
        done = core.optcomp(*args)
        assert (done.returncode, done.stderr) == (0, ""), args
        assert done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("args", [["schema"], ["examples/plan.yaml"], ["examples/plan.yaml", "--json"]], ids=str)
def test_core_alone_plans(core: Environment, args: list[str]) -> None:
    done = core.optcomp("plan", *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "library", "extra"),
    [
        (["compare", "0.1x5", "--delta", "1e-6", "--plot", "OUT.png"], "matplotlib", "plots"),
        (["show", "0.1x5", "--plot", "OUT.svg"], "matplotlib", "plots"),
        (["figures", "OUT"], "matplotlib", "plots"),
        (["plan", "examples/plan.yaml", "--html", "OUT.html"], "matplotlib", "plots"),
        (["data", "check", "examples/plan.yaml", "--data", "examples/people.parquet"], r"\w+", "data"),
        (["audit", "count-laplace"], r"\w+", "data"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else str(value),
)
def test_a_missing_extra_is_one_line(
    core: Environment, tmp_path: Path, args: list[str], library: str, extra: str
) -> None:
    done = core.optcomp(*(arg.replace("OUT", str(tmp_path / "out")) for arg in args))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"optcomp: {library} is missing: install optcomp\[{extra}\]\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "library", "extra"),
    [
        (TABLE, r"\w+", "data"),
        ("import optcomp.interop", "dp_accounting", "interop"),
    ],
    ids=["table", "interop"],
)
def test_a_missing_extra_is_an_error_of_ours(core: Environment, code: str, library: str, extra: str) -> None:
    caught = f"import optcomp\ntry:\n    exec({code!r})\nexcept optcomp.MissingExtra as error:\n    print(error)"
    assert re.fullmatch(rf"{library} is missing: install optcomp\[{extra}\]\n", core.python(caught))


@pytest.mark.slow
def test_with_data_and_a_centre(center: Environment) -> None:
    assert any("demo_server" in text for text, _ in examples(data=True))
    run_examples(center, data=True)
    done = center.optcomp("data", "check", "examples/plan.yaml", "--data", "examples/people.parquet", "--json")
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    assert '"rows"' in done.stdout
