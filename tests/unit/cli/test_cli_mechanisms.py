"""Mechanisms as expressions: what they mean, how they are refused, in items and in files."""

from __future__ import annotations

import inspect
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.cli.reading.items import entry_of
from optcomp.guarantees import KnownLoss, RenyiBounded
from optcomp.reading import (
    KINDS,
    Argument,
    Call,
    Format,
    Malformed,
    MechanismCounts,
    entries_of,
    make,
    number,
    parse,
    tally,
    written,
)
from tests.unit.cli.in_process import invoke

SAMPLED = oc.PoissonSubsampled(oc.Gaussian("1"), "0.01")

MEANT: dict[str, tuple[object, int]] = {
    "gaussian(sigma=4)x100": (oc.Gaussian("4"), 100),
    "gaussian(4)": (oc.Gaussian("4"), 1),
    "Gaussian( SIGMA = 1/3 , sensitivity = 0.1 ) X 5e1": (oc.Gaussian("1/3", "0.1"), 50),
    "laplace(scale=10)": (oc.Laplace("10"), 1),
    "laplace(scale=10, sensitivity=2)x3": (oc.Laplace("10", "2"), 3),
    "laplace(sensitivity=2, scale=10)×3": (oc.Laplace("10", "2"), 3),
    "laplace(10, 2)x0": (oc.Laplace("10", "2"), 0),
    "discrete-gaussian(sigma=3)": (oc.DiscreteGaussian("3"), 1),
    "DISCRETE_GAUSSIAN(3, 2.0)": (oc.DiscreteGaussian("3", 2), 1),
    "discrete-laplace(scale=2)": (oc.DiscreteLaplace("2"), 1),
    "geometric(2, sensitivity=3)": (oc.DiscreteLaplace("2", 3), 1),
    "rr(eps=1, answers=4)": (oc.RandomizedResponse("1", 4), 1),
    "randomized-response(epsilon=1)": (oc.RandomizedResponse("1"), 1),
    "exponential(eps=0.1)": (oc.Exponential("0.1"), 1),
    "name-and-shame(delta=1e-9)": (oc.NameAndShame("1e-9"), 1),
    "subsampled(gaussian(sigma=1), rate=0.01)x1000": (SAMPLED, 1000),
    "poisson_subsampled(mechanism=laplace(10), rate=1e-3)": (oc.PoissonSubsampled(oc.Laplace("10"), "1e-3"), 1),
    "sparse-vector(threshold_epsilon=.1, queries-epsilon=.2)": (oc.SparseVectorDP("0.1", "0.2"), 1),
    "zcdp(rho=.01)": (oc.ZCDP("0.01"), 1),
    "approx-zcdp(rho=.01, delta=1e-9)": (oc.ApproxZCDP("0.01", "1e-9"), 1),
    "tcdp(rho=.01, omega=20)": (oc.TCDP("0.01", "20"), 1),
    "gdp(mu=.5)": (oc.GaussianDP("0.5"), 1),
    "rdp(order=8, epsilon=.3)": (oc.RenyiDP("8", "0.3"), 1),
}

_GAUSSIAN = "write gaussian(sigma[, sensitivity])"

WRONG = {
    "gausian(4)": "no mechanism is called 'gausian'; did you mean gaussian?",
    "zdcp(4)": "no mechanism is called 'zdcp'; did you mean zcdp?",
    "discrete_gausian(4)": "no mechanism is called 'discrete-gausian'; did you mean discrete-gaussian?",
    "gaussian(sgma=4)": f"gaussian has no parameter 'sgma'; {_GAUSSIAN}",
    "gaussian()": f"gaussian: sigma is missing; {_GAUSSIAN}",
    "gaussian(sensitivity=2)": f"gaussian: sigma is missing; {_GAUSSIAN}",
    "gaussian(4, 1, 2)": f"gaussian: too many parameters; {_GAUSSIAN}",
    "gaussian(4, sigma=5)": "gaussian: sigma is given twice",
    "gaussian(sigma=0,5)": f"gaussian: parameters without a name come first, and decimals have a point; {_GAUSSIAN}",
    "gaussian(sigma=)": "sigma: its value is missing",
    "gaussian(4,)": "a parameter is missing between commas",
    "gaussian(4": "a ')' is missing",
    "subsampled(gaussian(4), 0.1": "a ')' is missing",
    "gaussian(4))x3": "there is a ')' too many",
    "gaussian 4)": "'(' must follow 'gaussian', as in gaussian(sigma=4)",
    "(4)": "a name must stand before '(', as in gaussian(sigma=4), got '(4)'",
    "gaussian(4 5(6))": "a comma or ')' must come before '(6))'",
    "gaussian(4)y3": "only xN for N of them may follow the last ')', got 'y3'",
    "gaussian(4)x": "the count after 'x' is missing",
    "gaussian(4)x1.5": "count: must be a whole number between 0 and 10^15, got '1.5'",
    "gaussian(4)x-1": "count: must be a whole number between 0 and 10^15, got '-1'",
    "gaussian(4)*3": "use x for copies, as in gaussian(4)x3",
    "gaussian": f"parameters go into parentheses: {_GAUSSIAN}",
    "gaussianx100": f"parameters go into parentheses: {_GAUSSIAN}",
    "gaussian=4": f"parameters go into parentheses: {_GAUSSIAN}",
    "gaussian(0)": "sigma: must be positive, got '0'",
    "gaussian(1e-4000)": "sigma: makes sensitivity/noise too large: it must lie in [1e-06, 1000], got '1e-4000'",
    "gaussian(1e9)": "sigma: makes sensitivity/noise too small: it must lie in [1e-06, 1000], got '1e9'",
    "gaussian(abc)": "sigma: must be a number such as 0.1, 1e-9 or 1/3, got 'abc'",
    "gaussian(50%)": "sigma: must be a number such as 0.1, 1e-9 or 1/3, got '50%' (percent? write 0.5)",
    "gaussian(1_0)": "sigma: must be a number such as 0.1, 1e-9 or 1/3, got '1_0'",
    "gaussian(laplace(1))": "sigma: must be a number, not laplace(…)",
    "rr(1, 2.5)": "answers: must be a whole number, got '2.5'",
    "rr(1, 1)": "answers: must be at least 2 and at most 1000000000, got 1",
    "rr(1, many)": "answers: must be a number such as 0.1, 1e-9 or 1/3, got 'many'",
    "subsampled(rr(1), 0.1)": "mechanism: must be gaussian(…), laplace(…) or discrete-gaussian(…), got rr(…)",
    "subsampled(4, 0.1)": "mechanism: must be gaussian(…), laplace(…) or discrete-gaussian(…), got '4'",
    "subsampled(gaussian(4)x2, 0.1)": "a comma or ')' must come before 'x2, 0.1)'",
    "subsampled(gaussian(4), 2)": "rate: must lie in [1e-07, 1], got '2'",
    "rdp(8)": "rdp: epsilon is missing; write rdp(order, epsilon)",
    "tcdp(.01, 1)": "omega: must be greater than 1, got '1'",
    "gaussian(" * 9: "the parentheses are nested too deeply",
}


def invoked(command: str, text: str | None = None) -> Any:
    return invoke(command, text)


def printed(command: str, text: str | None = None) -> str:
    result = invoked(command, text)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return str(result.stdout)


@pytest.mark.parametrize(("text", "meant"), MEANT.items())
def test_expressions_are_the_library_s_mechanisms(text: str, meant: tuple[object, int]) -> None:
    assert tally([entry_of(text)]) == dict([meant])


def test_the_same_mechanism_is_counted_once() -> None:
    items = ["gaussian(4)x2", "GAUSSIAN(sigma=4.0)", "gaussian(sigma=8/2, sensitivity=1)x3"]
    assert tally(map(entry_of, items)) == {oc.Gaussian(4): 6}


def test_numbers_are_taken_as_written() -> None:
    (mechanism,) = tally([entry_of("laplace(scale=0.1)")])
    assert isinstance(mechanism, oc.Laplace)
    assert mechanism.scale == Fraction(1, 10) != 0.1


@pytest.mark.parametrize(("item", "line"), WRONG.items())
def test_wrong_expressions_are_one_line(item: str, line: str) -> None:
    result = invoke(["compose", item, "--delta", "1e-6"])
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: item {item!r}: {line}\n")


def test_strange_names_get_the_whole_list() -> None:
    result = invoked("compose 'foo(3)' --delta 1e-6")
    assert result.exit_code == 2
    assert result.stderr.startswith("optcomp: item 'foo(3)': no mechanism is called 'foo'; there are laplace, ")
    assert all(kind.name in result.stderr for kind in KINDS)


def test_every_mechanism_of_the_library_has_a_name() -> None:
    public = {value for name in oc.__all__ if inspect.isclass(value := getattr(oc, name))}
    beyond = {value for value in public if issubclass(value, KnownLoss | RenyiBounded)} | {
        oc.NameAndShame,
        oc.SparseVectorDP,
    }
    assert {kind.make for kind in KINDS} == beyond


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_parameters_are_those_of_the_library(kind: Any) -> None:
    known = inspect.signature(kind.make).parameters
    assert [entry.name for entry in kind.parameters] == list(known)
    for entry in kind.parameters:
        usual = known[entry.name].default
        assert entry.default == (None if usual is inspect.Parameter.empty else usual)


@pytest.mark.parametrize("item", [item for item, _ in MEANT.values()], ids=repr)
def test_written_and_read_back(item: object) -> None:
    call, count = parse(written(item))
    assert (make(call), count) == (item, "")


def test_written_as_people_write() -> None:
    assert written(SAMPLED) == "subsampled(gaussian(sigma=1), rate=0.01)"
    assert written(oc.Laplace("1/3", 2)) == "laplace(scale=1/3, sensitivity=2)"
    assert (written(oc.PureDP("0.1")), written(oc.ApproxDP("0.2", "1e-9"))) == ("0.1", "0.2,1e-9")
    assert [number(Fraction(value)) for value in ("100", "1e20", "0.001", "12.50", "2/3")] == [
        "100",
        "1e+20",
        "0.001",
        "12.5",
        "2/3",
    ]


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
def test_numbers_survive_writing(value: Fraction) -> None:
    assert Fraction(number(value)) == value


@given(st.text(alphabet="gausin(),=x 41.-_é", max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        call, count = parse(text)
    except Malformed:
        return
    assert "(" in text
    assert call.name == call.name.casefold()
    assert not count or "x" in text


def test_calls_keep_order_and_names() -> None:
    inner = Call("gaussian", (Argument("", "1"),))
    assert parse("Sub-Sampled( gaussian(1), Rate = 2 )x 7") == (
        Call("sub_sampled", (Argument("", inner), Argument("rate", "2"))),
        "7",
    )


FILES = {
    "csv": (
        Format.CSV,
        "name,mechanism,epsilon,delta,count\n"
        "ages,gaussian(sigma=4)x100,,,\n"
        'sums,"laplace(scale=10, sensitivity=2)",,,3\n'
        "rest,,0.1,1e-9,5\n",
    ),
    "mechanism alone": (Format.CSV, "Mechanism;count\ngaussian(4);100\nlaplace(10, 2);3\n0.1,1e-9x5;\n"),
    "json": (
        Format.JSON,
        '["gaussian(sigma=4)x100", {"mechanism": "laplace(10, 2)", "count": 3}, {"epsilon": 0.1, "delta": 1e-9, '
        '"count": 5, "mechanism": null}]',
    ),
    "yaml": (
        Format.YAML,
        "- gaussian(sigma=4)x100\n- mechanism: laplace(scale=10, sensitivity=2)\n  count: 3\n- [0.1, 1e-9, 5]\n",
    ),
}


@pytest.mark.parametrize(("format", "text"), FILES.values(), ids=FILES)
def test_files_hold_mechanisms(format: Format, text: str) -> None:
    expected = {oc.Gaussian("4"): 100, oc.Laplace("10", "2"): 3, oc.ApproxDP("0.1", "1e-9"): 5}
    assert tally(entries_of(text, format, "file")) == expected


WRONG_FILES = {
    "mechanism\ngausian(4)\n": ", line 2: mechanism 'gausian(4)': no mechanism is called 'gausian'; did you mean "
    "gaussian?",
    "mechanism,epsilon\ngaussian(4),0.1\n": ", line 2: mechanism: is given beside epsilon, got 'gaussian(4)'",
    "mechanism,delta\ngaussian(4),0.1\n": ", line 2: mechanism: is given beside delta, got 'gaussian(4)'",
    "mechanism,count\ngaussian(4)x3,2\n": ", line 2: count: is given twice, got '2' beside 'gaussian(4)x3'",
    "mechanism,count\nlaplace(10, 2),2\n": ', line 2: mechanism: put quotes around it, as in "laplace(10, 2)", '
    "got 'laplace(10'",
    "mechanism,count\n,2\n": ", line 2: epsilon: is missing",
    "mechanism,mechanism\na,b\n": ", line 1: mechanism is given twice",
    '[{"mechanism": [1]}]': ", entry 1: mechanism: must be text, as in gaussian(sigma=4)",
    '["gaussian(4"]': ", entry 1: 'gaussian(4': a ')' is missing",
    "- mechanism: gaussian\n": ", line 1: mechanism 'gaussian': parameters go into parentheses: "
    "write gaussian(sigma[, sensitivity])",
}


@pytest.mark.parametrize(("text", "line"), WRONG_FILES.items())
def test_wrong_files_are_one_line(text: str, line: str) -> None:
    result = invoked("compose --from - --delta 1e-6", text)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: standard input{line}\n")


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def test_gaussian_curve_is_the_formula() -> None:
    """δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2), μ² = 100/16."""
    view = json.loads(printed("compose 'gaussian(sigma=4)x100' --epsilon 3 --json"))
    mu = 2.5
    assert view["upper"] == pytest.approx(_normal(-3 / mu + mu / 2) - math.exp(3) * _normal(-3 / mu - mu / 2))
    assert view["theorem"] == "DRS22"


def test_one_laplace_is_the_formula() -> None:
    """δ(ε) = 1 - e^{(ε - ε₀)/2} below ε₀ = 1/scale."""
    view = json.loads(printed("compose 'laplace(scale=10)' --epsilon 0.04 --json"))
    assert view["upper"] == pytest.approx(-math.expm1(-0.03), rel=1e-12)


@pytest.mark.parametrize("method", ["auto", "renyi"])
def test_compose_json_is_the_bound(method: str) -> None:
    counts: MechanismCounts = {oc.Gaussian("4"): 10, oc.ZCDP("0.01"): 2, oc.PureDP("0.1"): 5}
    command = f"compose 'gaussian(4)x10' 'zcdp(.01)x2' 0.1x5 --delta 1e-6 --method {method}"
    bound = oc.compose(counts, delta="1e-6", method=method)
    assert json.loads(printed(f"{command} --json")) == bound.as_dict()
    text = printed(command)
    words = " ".join(text.replace("│", " ").split())  # a long note takes two lines of its cell
    assert all(note in words for note in bound.notes)
    assert bound.notes
    assert "basic composition" not in text


def test_basic_composition_is_shown_where_every_mechanism_has_an_epsilon() -> None:
    text = printed("compose 'laplace(scale=10, sensitivity=2)x3' 0.1x5 --delta 1e-6")
    assert "basic composition │ 1.1  (" in text


def test_compare_of_a_mixture() -> None:
    command = "compare 'gaussian(4)x10' 0.1x5 'zcdp(.01)' --delta 1e-6"
    bounds = oc.compare({oc.Gaussian("4"): 10, oc.PureDP("0.1"): 5, oc.ZCDP("0.01"): 1}, delta="1e-6")
    view = json.loads(printed(f"{command} --json"))
    assert view["bounds"] == [bound.as_dict() for bound in bounds]
    reasons = {entry["theorem"]: entry["reason"] for entry in view["omitted"]}
    assert reasons["DRV10"] == "needs an (ε, δ) of every mechanism"
    assert reasons["ZDW22"] == "needs the privacy loss of every mechanism"
    assert reasons["DRS22"] == "needs Gaussian mechanisms only"
    text = printed(command)
    assert f"note on CKS20: {bounds[0].notes[0]}\n" in text
    assert "note on MV18-1.5: every mechanism by its (ε, δ) alone\n" in text
    assert "not shown: ZDW22 (needs the privacy loss of every mechanism)\n" in text


def test_compare_of_losses_by_their_epsilons() -> None:
    reasons = {
        entry["theorem"]: entry["reason"]
        for entry in json.loads(printed("compare 'laplace(10)x5' 0.2x5 --delta 1e-6 --json"))["omitted"]
    }
    assert reasons == {
        "DRV10": "needs equal ε, δ",
        "MV18-1.7": "needs (ε, δ) pairs only",
        "DRS22": "needs Gaussian mechanisms only",
    }


def test_compare_of_a_mixture_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    assert f"The plot is in {path}" in printed(f"compare 'gaussian(4)x10' 'laplace(10)x5' --delta 1e-6 --plot {path}")
    assert path.stat().st_size > 15_000


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            "'zcdp(0.1)' --certificate c.json",
            "--certificate: the answer is about notions such as Rényi bounds, and certificates cover only (ε, δ) pairs "
            "and mechanisms whose loss is known",
        ),
        (
            "--bits 20",
            "MV18-1.5 does not apply: it needs (ε, δ) guarantees only, and so do --method exact and --bits",
        ),
        (
            "--method strong",
            "Smith25-1.1 does not apply: it needs (ε, δ) guarantees, and Gaussian has none of its own; "
            "use --method auto",
        ),
    ],
)
def test_what_mixtures_do_not_have(options: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoked(f"compose 'gaussian(4)x3' --delta 1e-6 {options}")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"optcomp: {line}\n")
    assert not list(tmp_path.iterdir())


def test_verify_takes_no_notions(tmp_path: Path) -> None:
    certificate, pairs, mixture = (str(tmp_path / name) for name in ("c.json", "pairs.yaml", "mixture.yaml"))
    Path(pairs).write_text("- rr(eps=0.1)\n- name-and-shame(1e-9)\n- 0.2\n", encoding="utf8")
    Path(mixture).write_text("- 0.2\n- gaussian(sigma=4)\n- zcdp(0.1)\n", encoding="utf8")
    printed(f"compose --from {pairs} --delta 1e-6 --certificate {certificate}")
    assert printed(f"verify {certificate} --from {pairs}").startswith("proved: ")
    result = invoked(f"verify {certificate} --from {mixture}")
    line = "optcomp: --from: a certificate is about (ε, δ) pairs and known losses only, got 'zcdp(rho=0.1)'\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", line)
