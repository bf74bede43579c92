"""The calculator's page: numbers of the library, the state in the address, and nothing that a visitor can break."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from urllib.parse import quote, urlencode

import pytest

import optcomp as oc
from optcomp.center import people, rates
from optcomp.checker import check
from optcomp.pages import make_app
from optcomp.pages.calculator_view import EXAMPLES, MOST_TEXT, state_in
from optcomp.reading import MechanismCounts
from tests.unit.center.clocks import Clock
from tests.unit.center.served import PATIENCE, Served, served
from tests.unit.pages.visitors import Visitor, hidden_fields, words_of

PAIRS: MechanismCounts = {oc.PureDP("0.1"): 50, oc.ApproxDP("0.2", "1e-9"): 50}
TEXT = "0.1x50 0.2,1e-9x50"
EVIL = "\"><script>alert('x')</script>{{7*7}}"


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("calculator") / "home"
    with served(home, make_app, processes=False, calculations=100_000, calculator_seconds=60) as found:
        yield found


@pytest.fixture
def at(centre: Served) -> Visitor:
    return Visitor(centre)


def address(**given: Any) -> str:
    return f"/calculator?{urlencode(given, doseq=True)}"


def numbers(text: str) -> dict[str, str]:
    """The sides that the page shows."""
    shown = words_of(text)
    return {name: re.search(f"proved {name} side [εδ] . (\\S+)", shown)[1] for name in ("lower", "upper")}  # type: ignore[index]


@pytest.mark.parametrize(("sought", "given"), [("epsilon", "1e-6"), ("delta", "3")])
def test_the_numbers_are_those_of_the_library(at: Visitor, sought: str, given: str) -> None:
    truth = oc.compose(PAIRS, **{"delta" if sought == "epsilon" else "epsilon": given})  # type: ignore[arg-type]
    found = at.get(address(mechanisms=TEXT, sought=sought, at=given, more="yes"))  # so that every curve has its time
    assert found.status_code == 200
    sides = {name: Fraction(side) for name, side in numbers(found.text).items()}
    assert sides["lower"] <= Fraction(truth.lower) <= Fraction(truth.upper) <= sides["upper"]
    assert sides["upper"] - sides["lower"] < Fraction(truth.upper) / 10**8
    shown = words_of(found.text)
    assert html.escape(oc.theorem(truth.theorem).statement, quote=False) in shown.replace("&#39;", "'")
    for bound in oc.compare(PAIRS, **{"delta" if sought == "epsilon" else "epsilon": given}):  # type: ignore[arg-type]
        assert bound.theorem in shown
    assert "DRV10, advanced composition: needs equal" in shown
    assert found.text.count("<svg") == 3
    assert found.text.count("<caption>") == 4


def test_the_first_page_says_what_to_do_and_its_examples_work(at: Visitor) -> None:
    found = at.get("/calculator")
    assert found.status_code == 200
    assert "Enter mechanisms" in words_of(found.text)
    for _, query in EXAMPLES:
        assert f'href="/calculator?{html.escape(query)}"' in found.text
        assert "proved upper side" in words_of(at.get(f"/calculator?{query}").text)


def test_the_link_reproduces_the_page(at: Visitor) -> None:
    given = {"mechanisms": TEXT, "sought": "delta", "at": "3", "adaptive": "yes"}
    found = at.get(address(**given, kind="pair", first="0.1", second="", count="2", add="row")).text
    link = re.search(r'id="link" value="([^"]+)"', found)[1]  # type: ignore[index]
    assert "add=" not in link
    again = at.get(html.unescape(link)).text
    assert numbers(again) == numbers(found)
    assert html.unescape(re.search(r'id="link" value="([^"]+)"', again)[1]) == html.unescape(link)  # type: ignore[index]


def test_rows_are_added_and_removed_without_scripts(at: Visitor) -> None:
    rows = {"kind": ["gaussian", "pair"], "first": ["4", "0.1"], "second": ["", "1e-9"], "count": ["2", ""]}
    assert at.get(address(**rows)).text.count('name="kind"') == 2
    assert at.get(address(**rows, add="row")).text.count('name="kind"') == 3
    left = at.get(address(**rows, drop="1"))
    assert left.text.count('name="kind"') == 1
    truth = oc.compose([oc.ApproxDP("0.1", "1e-9")], delta="1e-6")
    assert Fraction(numbers(left.text)["upper"]) >= Fraction(truth.upper)
    for wrong in ("0", "3", "-1", "x", "9" * 50, "²"):
        assert at.get(address(**rows, drop=wrong)).text.count('name="kind"') == 2
    assert at.get(address(kind=["pair"] * 500, first=["1"] * 500)).text.count('name="kind"') == 40


def test_the_labels_of_a_row_follow_its_kind(at: Visitor) -> None:
    shown = words_of(at.get(address(kind="sampled-gaussian", first="1", second="0.01", count="300")).text)
    assert "σ (sigma)" in shown
    assert "sampling rate" in shown
    assert "subsampled(gaussian(sigma=1), rate=0.01)" in shown


def test_training_settings_are_poisson_subsampled_gaussians(at: Visitor) -> None:
    truth = oc.compose({oc.PoissonSubsampled(oc.Gaussian("1.5"), "0.01"): 100}, delta="1e-6")
    found = numbers(at.get(address(rate="0.01", noise="1.5", steps="100")).text)
    assert Fraction(found["lower"]) <= Fraction(truth.lower)
    assert Fraction(found["upper"]) >= Fraction(truth.upper)


def test_the_certificate_is_proved_by_the_checker(at: Visitor) -> None:
    found = at.get(f"/calculator/certificate.json?{urlencode({'mechanisms': TEXT, 'at': '1e-6'})}")
    assert found.headers["content-disposition"] == 'attachment; filename="certificate.json"'
    assert found.headers["content-type"] == "application/json"
    assert found.json() == json.loads(json.dumps(oc.compose(PAIRS, delta="1e-6").certificate()))
    assert check(found.json()).proved
    none = at.get(f"/calculator/certificate.json?{urlencode({'mechanisms': 'zcdp(0.1)'})}")
    assert none.status_code == 422
    assert "certificates cover only" in words_of(none.text)


def sent(visitor: Visitor, name: str, content: bytes, **state: str) -> Any:
    return visitor.post("/calculator/file", {"state": urlencode(state)}, files={"file": (name, content)})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv", b"epsilon,delta,count\n0.1,,50\n0.2,1e-9,50\n"),
        ("m.json", b'[{"epsilon": 0.1, "count": 50}, {"epsilon": 0.2, "delta": 1e-9, "count": 50}]'),
        ("m.YAML", b"\xef\xbb\xbf- {epsilon: 0.1, count: 50}\n- {epsilon: 0.2, delta: 1e-9, count: 50}\n"),
    ],
)
def test_a_file_becomes_an_address(at: Visitor, name: str, content: bytes) -> None:
    found = sent(at, name, content, sought="delta", at="3")
    assert found.status_code == 303
    assert found.headers["location"].startswith("/calculator?mechanisms=")
    truth = oc.compose(PAIRS, epsilon="3")
    assert Fraction(numbers(at.get(found.headers["location"]).text)["upper"]) >= Fraction(truth.upper)


def test_a_file_that_is_too_long_for_an_address_is_shown_at_once(at: Visitor) -> None:
    content = "epsilon\n" + "".join(f"0.{number:05d}1\n" for number in range(2000))
    found = sent(at, "long.csv", content.encode(), at="1e-6")
    assert found.status_code == 200
    truth = oc.compose([oc.PureDP(f"0.{number:05d}1") for number in range(2000)], delta="1e-6")
    sides = {name: Fraction(side) for name, side in numbers(found.text).items()}
    assert sides["lower"] <= Fraction(truth.lower) <= Fraction(truth.upper) <= sides["upper"]
    assert "too long for a link" in words_of(found.text)
    state = [value for value in re.findall(r'name="state" value="([^"]*)"', found.text) if value]
    proof = at.post("/calculator/certificate.json", {"state": html.unescape(state[-1])})
    assert proof.json() == json.loads(json.dumps(truth.certificate()))
    assert "--from FILE" in words_of(found.text)


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("a.csv", b"\xff\xfe\x00", "UTF-8"),
        ("a.csv", b"", "holds no mechanisms"),
        ("a.csv", b"epsilon\n" + b"0.1\n" * 100_000, "256 kB"),
        ("a.yaml", b"[" * 100_000, "nested too deeply"),
        ("a.yaml", b"- &a {epsilon: 1, x: [" + b"n, " * 5000 + b"]}\n" + b"- *a\n" * 5000, "stand for too much"),
        ("a.json", b"[" * 100_000, "must hold a list"),
        (EVIL, EVIL.encode(), "file"),
        ("", b"", "Choose a file"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_beside_its_field(at: Visitor, name: str, content: bytes, word: str) -> None:
    begun = time.process_time()
    found = sent(at, name, content)
    assert found.status_code == 422
    told = re.search(r'id="file-wrong">([^<]*)<', found.text)
    assert told is not None
    assert word in html.unescape(told[1])
    assert time.process_time() - begun < 60
    assert "<script>alert" not in found.text


FIELDS = ["mechanisms", "at", "first", "second", "count", "kind", "rate", "noise", "steps", "sought", "drop", "add"]


@pytest.mark.parametrize("field", FIELDS)
def test_what_is_typed_is_never_markup(at: Visitor, field: str) -> None:
    given = {"mechanisms": "0.1", "kind": "gaussian", "first": "4"} | {field: EVIL}
    found = at.get(address(**given))
    assert found.status_code in (200, 422)
    assert "<script>alert" not in found.text
    shown = html.unescape(found.text)
    assert shown.count("7*7") == shown.count("{{7*7}}")


def test_markup_in_a_file_is_shown_as_text(at: Visitor) -> None:
    found = sent(at, "a.csv", f'mechanism\n"{EVIL.replace(chr(34), chr(34) * 2)}"\n'.encode(), at=EVIL)
    assert found.status_code == 422
    assert "<script>alert" not in found.text


HOSTILE = [
    ({"mechanisms": "nan"}, "mechanisms"),
    ({"mechanisms": "0.1x99999999999999999999"}, "mechanisms"),
    ({"mechanisms": "(" * 3000}, "mechanisms"),
    ({"mechanisms": "0" * (MOST_TEXT + 1)}, "mechanisms"),
    ({"mechanisms": "0.1", "at": "nan"}, "at"),
    ({"mechanisms": "0.1", "at": "1e-999999999"}, "at"),
    ({"kind": "gaussian", "first": "0"}, "row-1"),
    ({"kind": ["pair", "pair"], "first": ["1", "x"]}, "row-2"),
    ({"rate": "3", "noise": "1", "steps": "4"}, "training"),
]


@pytest.mark.parametrize(("given", "field"), HOSTILE)
def test_what_cannot_be_used_is_told_beside_its_field(at: Visitor, given: dict[str, Any], field: str) -> None:
    begun = time.process_time()
    found = at.get(address(**given))
    assert found.status_code == 422
    assert f'id="{field}-wrong"' in found.text
    assert "--" not in words_of(found.text)
    assert time.process_time() - begun < 60


def test_a_billion_mechanisms_are_answered(at: Visitor) -> None:
    begun = time.process_time()
    truth = oc.compose({oc.PureDP("0.001"): 10**9}, delta="1e-6")
    found = at.get(address(mechanisms="0.001x1000000000"))
    assert Fraction(numbers(found.text)["upper"]) >= Fraction(truth.upper)
    assert time.process_time() - begun < 60


@pytest.mark.slow
def test_what_takes_too_long_is_told_in_plain_words(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A real process is ended after its time; what is calculated next has as much time as it needs."""
    slow = " ".join(f"subsampled(gaussian(sigma={n}.5),rate=0.01)x{n}" for n in range(1, 120))
    home = tmp_path_factory.mktemp("slow") / "home"
    with served(home, make_app, readers=0, calculator_seconds=2) as centre:
        found = Visitor(centre).get(address(mechanisms=slow))
        assert found.status_code == 503
        assert "This takes longer than 2 seconds" in words_of(found.text)
        centre.service.calculators._seconds = PATIENCE
        assert Visitor(centre).get(address(mechanisms="0.1")).status_code == 200


def test_an_address_has_a_rate(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a minute that does not end, 20 seconds before its end."""
    home = tmp_path_factory.mktemp("rate") / "home"
    with served(home, make_app, processes=False, calculations=2) as found:
        monkeypatch.setattr(people, "now", lambda connection: 60 * 10**7 + 40)
        monkeypatch.setattr(rates, "time", Clock())
        at = Visitor(found)
        replies = [at.get(address(mechanisms="0.1")) for _ in range(6)]
        assert [each.status_code for each in replies] == [200] * 2 + [429] * 4
        assert replies[-1].headers["retry-after"] == "20"
        assert "Too many requests" in words_of(replies[-1].text)
        assert at.get("/calculator").status_code == 200


def test_it_may_be_switched_off(tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(tmp_path_factory.mktemp("off") / "home", make_app, processes=False, calculators=0) as found:
        assert "switched off" in words_of(Visitor(found).get(address(mechanisms="0.1")).text)


def test_nothing_is_written_but_the_rate(centre: Served, at: Visitor) -> None:
    head, changes = centre.service.ledger.head, len(centre.service.changes.all())
    at.get(address(mechanisms=TEXT))
    sent(at, "m.csv", b"epsilon\n0.1\n")
    assert centre.service.ledger.head == head
    assert len(centre.service.changes.all()) == changes


@pytest.mark.parametrize("path", ["/calculator/file", "/calculator/certificate.json"])
@pytest.mark.parametrize("state", ["a=1&" * 50_000, "%ff%00%zz", "mechanisms=" + "(" * 100_000, "=&=&=", "\x00"])
def test_a_state_of_somebody_s_own_making_is_no_defect(at: Visitor, path: str, state: str) -> None:
    assert at.post(path, {"state": state}).status_code in (200, 422)
    assert at.get(f"/calculator?{quote(state[:4000], safe='=&%()')}").status_code in (200, 422)


def test_bytes_that_are_no_text_are_no_defect(at: Visitor) -> None:
    parts = b'--x\r\nContent-Disposition: form-data; name="state"\r\n\r\n\xff\xfe\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    found = at.post("/calculator/file", {}, content=parts, headers=headers)
    assert found.status_code in (200, 422)


def test_words_about_a_long_text_are_short(at: Visitor) -> None:
    found = at.get(address(mechanisms="gaussian(" + "9" * 5000))
    told = re.search(r'id="mechanisms-wrong">([^<]*)<', found.text)
    assert told is not None
    assert len(told[1]) < 600


def test_a_form_of_another_site_is_refused(at: Visitor) -> None:
    found = at.post(
        "/calculator/file", {"state": ""}, files={"file": ("a.csv", b"1")}, headers={"Origin": "http://x.example"}
    )
    assert found.status_code == 403


def test_a_hidden_state_is_read_as_an_address_is() -> None:
    state = state_in("mechanisms=0.1x3&kind=pair&first=1&second=&count=&at=1e-9")
    assert state_in(state.query) == state
    assert state.rows[0]["first"] == "1"
    assert hidden_fields('<input type="hidden" name="a" value="b">') == {"a": "b"}
