"""Signing in and out, forms from elsewhere, addresses that lead elsewhere, and what every page says to a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from optcomp.pages import make_app
from optcomp.pages.app import PARTS
from optcomp.pages.rendering import POLICY
from tests.unit.center.served import Served, served
from tests.unit.pages.visitors import Visitor


def test_every_page_has_the_policy(centre: Served) -> None:
    for path in ("/", "/sign-in", "/glossary", "/nothing", "/analyst"):
        found = Visitor(centre, "ada").get(path)
        assert found.headers["content-security-policy"] == POLICY, path
        assert found.headers["cache-control"] == "no-store"
        assert found.headers["x-frame-options"] == "DENY"
    assert "unsafe" not in POLICY


def test_files_are_kept_by_browsers_and_others_are_not_there(centre: Served) -> None:
    at = Visitor(centre)
    assert "immutable" in at.get("/assets/site.css").headers["cache-control"]
    for name in ("nothing.css", "../app.py", "..%2fapp.py", "%2e%2e/app.py", "site.css/..", ""):
        assert at.get(f"/assets/{name}").status_code in (404, 405), name


def test_a_visit_ends_with_its_token(centre: Served) -> None:
    people = centre.service.people
    centre.tokens["late"] = people.token("ruth", by="olga")
    at = Visitor(centre, "late")
    assert "ruth" in at.get("/").text
    people.revoke(people.tokens("ruth")[-1].id, by="olga")
    assert "ruth" not in at.get("/").text


def test_signing_out_ends_the_visit_in_the_database_too(centre: Served) -> None:
    at = Visitor(centre, "ruth")
    stolen = Visitor(centre)
    stolen.cookies = at.cookies
    assert "ruth" in stolen.get("/").text
    stolen = Visitor(centre)
    stolen.cookies.update(at.cookies)
    assert at.post("/sign-out", {}, page="/").status_code == 303
    assert "ruth" not in stolen.get("/").text


def test_a_form_without_the_proof_changes_nothing(centre: Served) -> None:
    at, other = Visitor(centre, "ada"), Visitor(centre, "ben")
    for proof in ("", "x", other.proof()):
        assert at.post("/sign-out", {"proof": proof}).status_code == 403
    assert "ada" in at.get("/").text


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
)
def test_a_form_of_another_site_changes_nothing(centre: Served, headers: dict[str, str]) -> None:
    at = Visitor(centre, "ada")
    assert at.post("/sign-out", {"proof": at.proof()}, headers=headers).status_code == 403
    assert at.post("/sign-in", {"token": centre.tokens["ben"]}, headers=headers).status_code == 403
    assert "ada" in at.get("/").text


@pytest.mark.parametrize("wanted", ["//elsewhere.example", "https://elsewhere.example", "/\\elsewhere.example", "\t/x"])
def test_nobody_is_sent_elsewhere(centre: Served, wanted: str) -> None:
    found = Visitor(centre).post("/sign-in", {"token": centre.tokens["ruth"], "next": wanted})
    assert found.headers["location"] == "/auditor"
    assert Visitor(centre).post("/colours", {"theme": "dark", "next": wanted}).headers["location"] == "/"


def test_over_tls_the_cookie_is_for_this_host_alone(centre: Served) -> None:
    at = Visitor(centre)
    found = at.post("https://localhost/sign-in", {"token": centre.tokens["ruth"], "next": "/"})
    cookie = found.headers["set-cookie"]
    assert cookie.startswith("__Host-optcomp_visit=")
    assert all(word in cookie for word in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"))


def test_the_name_of_a_person_is_text(centre: Served) -> None:
    name = "<script>alert(1)</script>"
    centre.service.people.add(name, "auditor", by="olga")
    centre.tokens[name] = centre.service.people.token(name, by="olga")
    found = Visitor(centre, name).get("/").text
    assert "<script>alert" not in found
    assert "&lt;script&gt;alert" in found


def test_somebody_suspended_sees_why(centre: Served) -> None:
    at = Visitor(centre, "omar")
    centre.service.people.suspend("omar", True, by="olga")
    found = at.post("/sign-out", {}, page="/")
    assert found.status_code == 403
    assert "You are suspended" in found.text


def test_nobody_sees_a_page_that_forgot_to_say_for_whom(centre: Served) -> None:
    """Every page is open, or says for which roles."""
    for part in PARTS:
        for route in part.router.routes:
            marks = vars(route.endpoint)
            assert marks.get("__optcomp_open__") or marks.get("__optcomp_roles__"), route


def test_the_cookie_is_secure_at_the_public_address(tmp_path: Path) -> None:
    """Also where a proxy ends TLS and does not say so."""
    with served(tmp_path / "home", make_app, processes=False, address="https://center.example.org") as centre:
        for host, secure in (("center.example.org", True), ("localhost", False)):
            form = {"token": centre.tokens["ada"], "next": "/"}
            found = Visitor(centre, Host=host).post("/sign-in", form)
            assert found.status_code == 303, found.text
            cookie = found.headers["set-cookie"]
            assert (cookie.startswith("__Host-"), "; Secure" in cookie) == (secure, secure)
