"""The wheel in clean environments, without a package index: the core alone, and with the extra for data.

`make setup` fills the wheelhouse from which everything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


PAGES_OF_A_CENTRE = """
from urllib.request import urlopen
from optcomp.center import demo_server
with demo_server() as told:
    for path in ("/", "/calculator", "/sign-in", "/glossary", "/assets/site.css", "/assets/site.js"):
        print(path, urlopen(told["url"] + path).status)
    for path in ("/docs", "/docs/guide.html", "/docs/images/compare.png", "/docs/more/CHANGELOG.html"):
        print(path, urlopen(told["url"] + path).status)
"""
"""Templates, words, assets and the documentation are in the wheel."""
TABLE = "from optcomp.statistics import *; Table('examples/people.parquet', {'age': Integers(16, 100)})"


class Environment:
    """A virtual environment that holds the wheel and nothing but what it asks for."""

    def __init__(self, place: Path, extra: str = "") -> None:
        assert HOUSE.is_dir(), "there is no wheelhouse: run make setup"
        self.bin = place / "env" / "bin"
        wheel = _built(place)
        _quietly(sys.executable, "-m", "venv", "--without-pip", str(place / "env"))
        pip = (sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "--quiet", "--no-compile")
        _quietly(*pip, "--no-index", "--find-links", str(HOUSE), f"{wheel}{extra}")

    def run(self, program: str, *args: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, at the root of the sources, where the examples are."""
        call = [str(self.bin / program), *args]
        return subprocess.run(
            call, capture_output=True, encoding="utf-8", timeout=120, check=False, cwd=ROOT, env=_variables()
        )

    def python(self, code: str) -> str:
        """What a Python program prints."""
        done = self.run("python", "-c", code)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


def _variables() -> dict[str, str]:
    """The environment of this process without its settings for Python and pip."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    return kept | {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONIOENCODING": "utf-8"}


def _quietly(*call: str) -> None:
    done = subprocess.run(call, capture_output=True, encoding="utf-8", timeout=300, check=False, env=_variables())
    assert done.returncode == 0, done.stderr


def _built(place: Path) -> Path:
    """The wheel, from a copy of the sources, so that building leaves nothing behind and finds nothing old."""
    source = place / "source"
    source.mkdir()
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, source)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place))
    _quietly(*pip, "--no-index", "--find-links", str(HOUSE), str(source))
    (wheel,) = place.glob("optcomp-*.whl")
    return wheel


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
        printed = environment.python(text)
        assert shown is None or printed == shown


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("core"))


def test_core_alone_composes_and_verifies(core: Environment, tmp_path: Path) -> None:
    seen = core.python(f"import importlib.util as u; print([name for name in {EXTRAS} if u.find_spec(name)])")
    assert seen == "[]\n"
    run_examples(core, data=False)
    certificate = str(tmp_path / "certificate.json")
    for args in (
        ["compose", "0.1x50", "0.2,1e-9x50", "--delta", "1e-6", "--certificate", certificate],
        ["verify", certificate],
        ["compare", "gaussian(sigma=4)x10", "--delta", "1e-6", "--json"],
        ["show", "laplace(scale=10)x20"],
        ["theorems", "MV18-1.5"],
    ):
        done = core.run("optcomp", *args)
        assert (done.returncode, done.stderr) == (0, ""), args
        assert done.stdout


@pytest.mark.parametrize("args", [["schema"], ["examples/plan.yaml"], ["examples/plan.yaml", "--json"]], ids=str)
def test_core_alone_plans(core: Environment, args: list[str]) -> None:
    done = core.run("optcomp", "plan", *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


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
    done = core.run("optcomp", *(arg.replace("OUT", str(tmp_path / "out")) for arg in args))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(rf"optcomp: {library} is missing: install optcomp\[{extra}\]\n", done.stderr)
    assert list(tmp_path.iterdir()) == []


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


def test_with_data_and_a_centre(tmp_path: Path) -> None:
    data = Environment(tmp_path, "[center]")
    run_examples(data, data=True)
    done = data.run("optcomp", "data", "check", "examples/plan.yaml", "--data", "examples/people.parquet", "--json")
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    assert '"rows"' in done.stdout
    assert {line.split()[1] for line in data.python(PAGES_OF_A_CENTRE).splitlines()} == {"200"}
