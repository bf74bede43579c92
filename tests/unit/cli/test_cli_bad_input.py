"""Bad input: exit code 2, nothing on stdout, and exactly this one line on stderr."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import optcomp as oc
from optcomp.cli.failures import one_line
from optcomp.cli.writing.wording import explained, with_given
from tests.unit.cli.in_process import invoke

_SHAPE = "write ε or ε,δ, then xN for N of them, as in 0.1x50 or 0.2,1e-9x50"
_NUMBER = "must be a number such as 0.1, 1e-9 or 1/3"
_COUNT = "count: must be a whole number between 0 and 10^15"
_STRANGE = "holds numbers but is none of epsilon, delta, count; rename or remove it"
_INSIDE = ", but the list is inside 'mechanisms': keep the list alone"
_ENTRY = "must be a number, a pair [epsilon, delta] or an object with epsilon, delta, count or mechanism"

COMMANDS = {
    "compose 0.1x50": "give exactly one of --delta and --epsilon",
    "compose 0.1 --delta 1e-6 --epsilon 1": "give exactly one of --delta and --epsilon",
    "compose --delta 1e-6": "nothing to compose: give items such as 0.1x50, or --from FILE",
    "compose 0.1x --delta 1e-6": f"item '0.1x': the count after 'x' is missing; {_SHAPE}",
    "compose x5 --delta 1e-6": f"item 'x5': {_SHAPE}",
    "compose '' --delta 1e-6": f"item '': {_SHAPE}",
    "compose 0.1,x5 --delta 1e-6": f"item '0.1,x5': {_SHAPE}",
    "compose 0.1,1e-9,3 --delta 1e-6": f"item '0.1,1e-9,3': {_SHAPE}",
    "compose 0.1x5 abc --delta 1e-6": f"item 'abc': epsilon: {_NUMBER}, got 'abc'",
    "compose 1/0 --delta 1e-6": f"item '1/0': epsilon: {_NUMBER}, got '1/0'",
    "compose 0.1x1.5 --delta 1e-6": f"item '0.1x1.5': {_COUNT}, got '1.5'",
    "compose 0.1xx5 --delta 1e-6": f"item '0.1xx5': {_COUNT}, got 'x5'",
    "compose 0.1x-5 --delta 1e-6": f"item '0.1x-5': {_COUNT}, got '-5'",
    "compose 0.1x2e15 --delta 1e-6": f"item '0.1x2e15': {_COUNT}, got '2e15'",
    "compose 0.1x1e99999999 --delta 1e-6": f"item '0.1x1e99999999': {_COUNT}, got '1e99999999'",
    "compose 0.1x1e15 0.1 --delta 1e-6": (
        "item '0.1': count: with the ones before more than 10^15 of the same kind, got 1000000000000001"
    ),
    "compose 1e13 --delta 1e-6": "item '1e13': epsilon: must be 0 or between 1e-100 and 1e+12, got '1e13'",
    "compose nan --delta 1e-6": "item 'nan': epsilon: must be finite, got 'nan'",
    "compose infx3 --delta 1e-6": "item 'infx3': epsilon: must be finite, got 'inf'",
    "compose --delta 1e-6 -- -0.1x3": "item '-0.1x3': epsilon: must not be negative, got '-0.1'",
    "compose 0.1,1 --delta 1e-6": "item '0.1,1': delta: must be at least 0 and less than 1, got '1'",
    "compose 1e99999999 --delta 0": (
        "item '1e99999999': epsilon: must lie between 1e-4000 and 1e4000, got '1e99999999'"
    ),
    "compose 0.1 --delta 1": "--delta: must be at least 0 and less than 1, got '1'",
    "compose 0.1 --delta zero": f"--delta: {_NUMBER}, got 'zero'",
    "compose 0.1 --delta 1e-999999999": "--delta: must lie between 1e-4000 and 1e4000, got '1e-999999999'",
    "compose 0.1 --epsilon -1": "--epsilon: must not be negative, got '-1'",
    "compose 0.1 --delta 0 --eta 0.1": ("--eta: belongs to --method murtagh-vadhan, not to --method auto, got '0.1'"),
    "compose 0.1 --delta 0 --bits 0": "--bits: must be a whole number between 1 and 100000, got '0'",
    "compose 0.1 --delta 0 --bits abc": "--bits: must be a whole number between 1 and 100000, got 'abc'",
    "compose 0.1 --delta 0 --bits 9 --method kov": "--bits: belongs to --method exact, not to --method kov, got 9",
    "compose 0.1 --delta 0 --rtol x": f"--rtol: {_NUMBER}, got 'x'",
    "compose 0.1 --delta 0 --rtol -1": "--rtol: must not be negative, got -1.0",
    "compose 0.1 --delta 0 --method best": (
        "--method: must be one of auto, basic, advanced, strong, kov, exact, murtagh-vadhan, certified, renyi, "
        "got 'best'"
    ),
    "compose --from x.csv --format xml --delta 0": "--format: must be one of csv, json, yaml, got 'xml'",
    "compose rel.csv --delta 1e-6": "item 'rel.csv': did you mean --from rel.csv?",
    "compose data --delta 1e-6": "item 'data': did you mean --from data?",
    "compose 0,1x5 --delta 1e-6": f"item '0,1x5': {_SHAPE} (decimal comma? write 0.1x5)",
    "compose 1,05 --delta 1e-6": f"item '1,05': {_SHAPE} (decimal comma? write 1.05)",
    "compose 0,1,1e-9x5 --delta 1e-6": f"item '0,1,1e-9x5': {_SHAPE} (decimal comma? write 0.1,1e-9x5)",
    "compose 0.1 --delta 0,01": f"--delta: {_NUMBER}, got '0,01' (decimal comma? write 0.01)",
    "compose 1% --delta 1e-6": f"item '1%': epsilon: {_NUMBER}, got '1%' (percent? write 0.01)",
    "compose 0.1*5 --delta 1e-6": "item '0.1*5': use x for copies, as in 0.1x5",
    "compose -0.1 --delta 1e-6": "item '-0.1': epsilon: must not be negative",
    "compose --epsilon -0.5 -0.1x3": "item '-0.1x3': epsilon: must not be negative",
    "compose 1_0 --delta 1e-6": f"item '1_0': epsilon: {_NUMBER}, got '1_0'",
    "compose 0.1x1_0 --delta 1e-6": f"item '0.1x1_0': {_COUNT}, got '1_0'",
    "compose ٣ --delta 1e-6": f"item '٣': epsilon: {_NUMBER}, got '٣'",
    "compose 0.1 --delta 0 --rtol nan": "--rtol: must be finite, got 'nan'",
    "compose 0.1 0.2 --delta 0 --method advanced": (
        "DRV10 does not apply: it needs mechanisms with equal (ε, δ), and these differ; "
        "use --method kov or --method strong instead"
    ),
    "compose --from nowhere.csv --delta 0": "nowhere.csv: No such file or directory",
    "compose --from . --delta 0": ".: Is a directory",
    "compose --from latin.csv --delta 0": "latin.csv: is not text in UTF-8",
    "compose --from - --from - --delta 0": "--from: standard input can be read only once",
    "compose 0.1 --delta": "Option '--delta' requires an argument.",
    "compos 0.1": "No such command 'compos'. Did you mean 'compose', 'compare'?",
    "compare 0.1 --delta 0 --plot out.gif": "--plot: the file must end in .png, .svg, .pdf, got 'out.gif'",
    "compare 0.1 --delta 0 --plot nowhere/out.png": "--plot: 'nowhere' is not a directory",
    "compare 0.1 --delta 0 --plot taken.png": "--plot: taken.png: Is a directory",
    "compare 0.1x0 --delta 0 --plot out.png": "--plot: there are no mechanisms, so nothing to draw",
    "compare 0.1,0.1x3 --delta 0 --plot out.png": "--plot: there is no finite ε at δ = 0, so nothing to draw",
}

FILES = {
    "": "holds no mechanisms",
    "epsilon,delta\n": "holds no mechanisms",
    "[]": "holds no mechanisms",
    "name,loss\na,1\n": ", line 1: no column is named epsilon or mechanism, got 'name, loss'",
    "epsilon,delta\n0.1,0\n\n0.1,2\n": ", line 4: delta: must be at least 0 and less than 1, got '2'",
    "epsilon\n0.1,5\n": ", line 2: 2 cells, but at most 1 columns",
    "epsilon,Epsilon\n1,1\n": ", line 1: epsilon is given twice",
    "0.1,1e-9,3,4\n": ", line 1: 4 cells, but at most 3 columns",
    "0.1\n0.2,oops\n": f", line 2: delta: {_NUMBER}, got 'oops'",
    "epsilon,count\n0.1,many\n": f", line 2: {_COUNT}, got 'many'",
    "epsilon,count\n,3\n": ", line 2: epsilon: is missing",
    'name,epsilon\n"b,0.1\n': ", line 2: unexpected end of data",
    "[0.1,\n": ", line 2: is not JSON",
    "[0.1 0.2]": ", line 1: is not JSON: Expecting ',' delimiter",
    "# nothing\n": "holds no mechanisms",
    "epsilon,detla\n0.1,\n0.1,1e-9\n": ", line 3: column 'detla' is unknown; did you mean delta?",
    "epsilon,counts\n0.1,5 of them\n": ", line 2: column 'counts' is unknown; did you mean count?",
    "epsilon,epsilons\n0.1,5\n": ", line 2: column 'epsilons' is unknown; did you mean epsilon?",
    "epsilon,n\n0.1,5\n0.1,\n0.1,6\n": f", line 2: column 'n' {_STRANGE}",
    "epsilon;copies\n0.1;n/a\n0.1;5,0\n": f", line 3: column 'copies' {_STRANGE}",
    '[{"epsilon": 0.1, "detla": 1e-9}]': ", entry 1: key 'detla' is unknown; did you mean delta?",
    '[0.1, {"epsilon": 0.1, "n": 5}]': f", entry 2: key 'n' {_STRANGE}",
    '[{"epsilon": 0.1, "more": {"delta": 1e-9}}]': f", entry 1: key 'more' {_STRANGE}",
    "- {epsilon: 0.1, Counts: 5}\n": ", line 1: key 'Counts' is unknown; did you mean count?",
    "- 0.1\n- {epsilon: 0.1, n: 5}\n": f", line 2: key 'n' {_STRANGE}",
    '{"mechanisms": [0.1], "title": "a"}': f"must hold a list of mechanisms{_INSIDE}",
    "mechanisms:\n- 0.1\n": f"must hold a list of mechanisms{_INSIDE}",
    "epsilon;count\n0,1;5\n": f", line 2: epsilon: {_NUMBER}, got '0,1' (decimal comma? write 0.1)",
    "{}": "must hold a list of mechanisms",
    "[" * 100_000: "must hold a list of mechanisms",
    "[0.1, [0.1]]": f", entry 2: {_ENTRY}",
    "[true]": f", entry 1: {_ENTRY}",
    '[{"delta": 0.1}]': ", entry 1: epsilon: is missing",
    '[{"epsilon": 0.1, "epsilon": 0.2}]': ", entry 1: epsilon is given twice",
    '[{"epsilon": [1]}]': ", entry 1: epsilon: must be a number",
    "[NaN]": ", entry 1: epsilon: must be finite, got 'NaN'",
    "- 0.1\n- {epsilon: -1}\n": ", line 2: epsilon: must not be negative, got '-1'",
    "- 0.1\n- ~\n": f", line 2: {_ENTRY}",
    "- {epsilon: 0.1, epsilon: 0.2}\n": ", line 1: epsilon is given twice",
    "- 0.1\n- [1, 2, 3, 4]\n": f", line 2: {_ENTRY}",
    "- [[[1]]]\n": f", line 1: {_ENTRY}",
    "--- text\n": "must hold a list of mechanisms",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.csv").write_bytes(b"name,epsilon\n\xe9,0.1\n")
    (tmp_path / "rel.csv").write_text("epsilon\n0.1\n")
    (tmp_path / "data").write_text("0.1\n")
    (tmp_path / "taken.png").mkdir()


@pytest.mark.parametrize(("command", "line"), COMMANDS.items())
def test_command(command: str, line: str) -> None:
    result = invoke(command)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: {line}\n")


@pytest.mark.parametrize(("text", "line"), FILES.items(), ids=range(len(FILES)))
def test_file(text: str, line: str) -> None:
    result = invoke(["compose", "--from", "-", "--delta", "1e-6"], text)
    between = "" if line.startswith(",") else ": "
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"optcomp: standard input{between}{line}\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compose 0.1 --dleta 1e-6", "No such option: --dleta"),
        ("compose 0.1 --delta 0 --method exact --adaptive", "MV18-1.5 does not apply"),
        ("theorems NONE", "theorem: must be one of DKMMN06"),
        ("theorems A B", "unexpected extra argument"),
        ("--nope", "No such option: --nope"),
    ],
)
def test_one_line_whoever_writes_it(command: str, words: str) -> None:
    """Texts that belong to the library or to Typer: one line that names the culprit."""
    result = invoke(command)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert result.stderr.startswith("optcomp: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["0.1x9 --epsilon 1e400 --json", "1e400 --delta 1e-6", "0.1x9 --delta 1e-400"])
def test_numbers_beyond_floats_leave_no_traceback(command: str) -> None:
    result = invoke(f"compose {command}")
    assert result.stderr.count("\n") == (1 if result.exit_code else 0)


def test_yaml_syntax_names_a_line() -> None:
    result = invoke(["compose", "--from", "-", "--delta", "0"], "- 0.1\n- [0.1\n")
    assert result.exit_code == 2
    assert result.stderr.startswith("optcomp: standard input, line 3: ")


def test_missed_precision_says_what_is_proved() -> None:
    result = invoke("compose 0.1x9 --method kov --rtol 1e-12 --delta 1e-6")
    assert result.exit_code == 2
    assert result.stderr.startswith("optcomp: --rtol: the proved bracket 0.8996697")
    assert " ≤ ε ≤ 0.9" in result.stderr
    assert result.stderr.endswith("more than the 1e-12 asked for\n")


def test_one_line_keeps_to_one_line() -> None:
    assert one_line("a\n  b\tc\x1b[1m") == "a b c [1m"
    assert len(one_line("x" * 10_000)) == 400


def test_library_words_become_options() -> None:
    many = oc.NotAffordable("deciding", math.inf, math.inf, "leave out bits=, use a larger eta, or method='auto'")
    assert explained(many) == "deciding needs too many terms; leave out --bits, use a larger --eta, or --method auto"
    assert explained(oc.NotAffordable("it", 2, 1, "ask for no bits")).endswith("; leave out --bits")
    assert with_given("too much", bits=500, eta=None) == "too much (given --bits 500)"


@pytest.mark.parametrize("format", ["csv", "json", "yaml"])
@pytest.mark.parametrize("text", ["", " \n\n"])
def test_empty_files_are_all_alike(format: str, text: str) -> None:
    result = invoke(f"compose --from - --format {format} --delta 0", text)
    assert (result.exit_code, result.stderr) == (2, "optcomp: standard input: holds no mechanisms\n")
