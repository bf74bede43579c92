"""Every role on every endpoint: what the published description lists is what this table lists, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.center.served import QUESTION, SECRET, Served, served

EVERYBODY, ANALYST, OWNER, AUDIT = {"analyst", "owner", "auditor"}, {"analyst"}, {"owner"}, {"owner", "auditor"}
_SEAT = "/api/v1/seats/{id}"
ROLES: dict[tuple[str, str], set[str]] = {
    ("get", "/api/v1/me"): EVERYBODY,
    ("get", "/api/v1/me/tokens"): EVERYBODY,
    ("get", "/api/v1/datasets"): EVERYBODY,
    ("get", "/api/v1/datasets/{name}"): EVERYBODY,
    ("get", "/api/v1/datasets/{name}/free"): {"analyst", "owner"},
    ("post", "/api/v1/datasets/{name}/dry-run"): {"analyst", "owner"},
    ("get", "/api/v1/seats"): {"analyst", "owner"},
    ("get", _SEAT): ANALYST,
    ("get", f"{_SEAT}/transcript"): ANALYST,
    ("post", f"{_SEAT}/preview"): ANALYST,
    ("post", f"{_SEAT}/questions"): ANALYST,
    ("get", f"{_SEAT}/mechanisms"): ANALYST,
    ("post", f"{_SEAT}/mechanisms"): ANALYST,
    ("post", f"{_SEAT}/mechanisms/preview"): ANALYST,
    ("post", f"{_SEAT}/mechanisms/{{number}}/questions"): ANALYST,
    ("post", f"{_SEAT}/plans"): ANALYST,
    ("post", f"{_SEAT}/plans/{{number}}/answers"): ANALYST,
    ("post", f"{_SEAT}/cancel"): ANALYST,
    ("get", f"{_SEAT}/requests/{{number}}/why"): ANALYST,
    ("post", f"{_SEAT}/requests/{{number}}/share"): ANALYST,
    ("post", f"{_SEAT}/wishes"): ANALYST,
    ("post", "/api/v1/owner/people"): OWNER,
    ("get", "/api/v1/owner/people"): OWNER,
    ("post", "/api/v1/owner/people/{name}/tokens"): OWNER,
    ("post", "/api/v1/owner/people/{name}/suspension"): OWNER,
    ("delete", "/api/v1/owner/tokens/{id}"): OWNER,
    ("get", "/api/v1/owner/sources"): OWNER,
    ("get", "/api/v1/owner/columns"): OWNER,
    ("get", "/api/v1/owner/dialect"): OWNER,
    ("post", "/api/v1/owner/checks"): OWNER,
    ("get", "/api/v1/owner/jobs"): OWNER,
    ("get", "/api/v1/owner/jobs/{id}"): OWNER,
    ("post", "/api/v1/owner/jobs/{id}/cancel"): OWNER,
    ("get", "/api/v1/owner/gains"): OWNER,
    ("post", "/api/v1/owner/datasets"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/versions"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/suspension"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/budget"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/proposals"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/batches"): OWNER,
    ("post", "/api/v1/owner/seats/{id}/hand-on"): OWNER,
    ("post", "/api/v1/owner/seats/{id}/suspension"): OWNER,
    ("get", "/api/v1/owner/wishes"): OWNER,
    ("post", "/api/v1/owner/wishes/{id}"): OWNER,
    ("get", "/api/v1/owner/changes"): OWNER,
    ("get", "/api/v1/owner/confirmations"): OWNER,
    ("post", "/api/v1/owner/confirmations/{id}"): OWNER,
    ("post", "/api/v1/plans/work-out"): {"analyst", "owner"},
    ("post", "/api/v1/owner/datasets/{name}/plans/look"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/releases"): OWNER,
    ("post", "/api/v1/owner/datasets/{name}/releases/{id}/publication"): OWNER,
    ("get", "/api/v1/datasets/{name}/releases"): EVERYBODY,
    ("get", "/api/v1/datasets/{name}/releases/{id}"): EVERYBODY,
    ("get", "/api/v1/audit/accounts"): AUDIT,
    ("get", "/api/v1/audit/changes"): AUDIT,
    ("get", "/api/v1/audit/history"): AUDIT,
    ("get", "/api/v1/audit/certificate"): AUDIT,
    ("get", "/api/v1/audit/verification"): AUDIT,
    ("get", "/api/v1/audit/export"): AUDIT,
    ("post", "/api/v1/audit/receipts"): EVERYBODY,
}
"""Who may call what; everything else is open to all, and is listed in OPEN."""
OPEN = {("get", "/health"), ("get", "/ready"), ("get", "/metrics")}
WHO = {"analyst": "ada", "owner": "olga", "auditor": "ruth"}


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("roles") / "home", processes=False) as found:
        yield found


def operations(centre: Served) -> dict[tuple[str, str], dict[str, Any]]:
    paths = centre.app.openapi()["paths"]
    return {(method, path): entry for path, methods in paths.items() for method, entry in methods.items()}


def test_every_endpoint_has_its_roles(centre: Served) -> None:
    assert set(operations(centre)) == set(ROLES) | OPEN


@pytest.mark.parametrize(("method", "path"), sorted(ROLES))
def test_roles(centre: Served, method: str, path: str) -> None:
    """A role that may not is refused before the body is read or the object looked up: here both are nonsense."""
    nowhere = re.sub(r"\{(id|number)\}", "999999", path).replace("{name}", "nothing")
    for role, who in WHO.items():
        found = centre.call(method, nowhere, who, content=b"{", headers={"Content-Type": "application/json"})
        if role in ROLES[method, path]:
            assert found.status_code not in (401, 403), (role, found.text)
        else:
            assert (found.status_code, found.json()["error"]) == (403, "forbidden"), role
    nobody = centre.call(method, nowhere, content=b"{", headers={"Content-Type": "application/json"})
    assert (nobody.status_code, nobody.json()["error"]) == (401, "not_known")
    assert nobody.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("method", "path"), sorted(key for key, roles in ROLES.items() if "{id}" in key[1] and roles == ANALYST)
)
def test_a_seat_of_somebody_else_is_not_there(centre: Served, method: str, path: str) -> None:
    """The same words for a seat of another analyst and for one that does not exist."""
    bodies: dict[str, dict[str, Any]] = {
        "preview": {"question": QUESTION},
        "questions": {"question": QUESTION},
        "mechanisms": {"mechanism": {"mechanism": "sparse"}},
        "plans": {"questions": [QUESTION]},
        "answers": {"index": 0},
        "cancel": {"key": "k"},
        "wishes": {"words": "more"},
    }
    last = path.rpartition("/")[2]
    body: dict[str, Any] | None = {"ask": {"statistic": {"count": "rows"}}}
    if "mechanisms/{number}" not in path:
        body = bodies.get("mechanisms" if path.endswith("mechanisms/preview") else last) if method == "post" else None
    seat = centre.seat("ben")
    told = []
    for number in (seat, 999_999):
        found = centre.call(method, path.replace("{id}", str(number)).replace("{number}", "1"), "ada", body)
        assert found.status_code == 404, found.text
        told.append(found.json())
    assert told[0] == told[1]
    assert centre.call("get", f"/api/v1/seats/{seat}", "ben").status_code == 200


def test_every_field_is_described_and_bounded(centre: Served) -> None:
    schemas = centre.app.openapi()["components"]["schemas"]
    requests = [name for name in schemas if name.endswith("Body") or name == "Share"]
    assert len(requests) > 15
    for name in requests:
        assert schemas[name]["additionalProperties"] is False, name
    for name, schema in schemas.items():
        for field, entry in schema.get("properties", {}).items():
            if not name.startswith(("HTTPValidation", "ValidationError")):
                assert entry.get("description"), f"{name}.{field}"


def test_no_page_of_another_host(centre: Served) -> None:
    assert centre.call("get", "/docs").status_code == 404
    assert centre.call("get", "/redoc").status_code == 404
    assert "http" not in str(centre.call("get", "/health").headers.get("content-security-policy"))


def test_a_token_may_be_for_some_datasets_only(centre: Served) -> None:
    seat = centre.seat("ben")
    made = centre.call("post", "/api/v1/owner/people/ben/tokens", "olga", {"scope": ["another"]})
    assert made.status_code == 201
    centre.tokens["narrow ben"] = made.json()["token"]
    assert centre.call("get", "/api/v1/datasets", "narrow ben").json() == {"datasets": []}
    assert centre.call("get", "/api/v1/seats", "narrow ben").json() == {"seats": []}
    assert centre.call("get", f"/api/v1/seats/{seat}", "narrow ben").status_code == 404
    assert centre.call("get", "/api/v1/datasets/survey", "narrow ben").status_code == 404


def test_suspension_is_not_being_busy(centre: Served) -> None:
    seat = centre.seat("ben")
    centre.call("post", f"/api/v1/owner/seats/{seat}/suspension", "olga", {"suspended": True})
    found = centre.call("post", f"/api/v1/seats/{seat}/questions", "ben", {"question": QUESTION})
    assert (found.status_code, found.json()["error"]) == (403, "suspended")
    assert centre.call("get", f"/api/v1/seats/{seat}", "ben").json()["left"]["amounts"]["epsilon"]["left"] == "1"
    centre.call("post", "/api/v1/owner/people/ben/suspension", "olga", {"suspended": True})
    assert centre.call("get", "/api/v1/me", "ben").json()["error"] == "suspended"
    centre.call("post", "/api/v1/owner/people/ben/suspension", "olga", {"suspended": False})
    assert centre.call("get", "/api/v1/me", "ben").json()["name"] == "ben"


def test_a_revoked_token_opens_nothing(centre: Served) -> None:
    centre.tokens["late"] = centre.call("post", "/api/v1/owner/people/ada/tokens", "olga", {}).json()["token"]
    assert centre.call("get", "/api/v1/me", "late").status_code == 200
    entries = centre.call("get", "/api/v1/owner/people", "olga").json()["entries"]
    number = max(token["id"] for each in entries if each["name"] == "ada" for token in each["tokens"])
    assert centre.tokens["late"] not in str(entries)
    assert centre.call("delete", f"/api/v1/owner/tokens/{number}", "olga").status_code == 200
    assert centre.call("get", "/api/v1/me", "late").status_code == 401


def test_no_response_tells_a_word_of_the_table(centre: Served) -> None:
    for who in ("ada", "olga", "ruth"):
        for path in ("datasets", "datasets/survey", "seats", "audit/accounts", "audit/export", "owner/changes"):
            assert SECRET not in centre.call("get", f"/api/v1/{path}", who).text
