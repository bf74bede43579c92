"""One client process: asks its questions under their keys until each of them is answered or refused.

The address is read anew before every try, for servers come and go.  Lines of JSON: key, status, answer.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

_GIVES_UP = 600.0
"""Seconds for one key."""
_TRY_AGAIN = (424, 429, 503)


def ask(url_file: Path, token: str, path: str, body: str) -> tuple[int, str]:
    """Status and text; 0 if nobody answers."""
    where = urlsplit(url_file.read_text())
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=180)
    try:
        connection.request("POST", path, body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        found = connection.getresponse()
        return found.status, found.read().decode()
    except (OSError, http.client.HTTPException, ValueError):
        return 0, ""
    finally:
        connection.close()


def main(url_file: str, token: str, seat: str, keys: str, epsilon: str) -> None:
    """Ask under every key, one after the other."""
    question = {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": epsilon}
    for key in keys.split(","):
        until, body = time.monotonic() + _GIVES_UP, json.dumps({"question": question, "key": key})
        while True:
            status, text = ask(Path(url_file), token, f"/api/v1/seats/{seat}/questions", body)
            if status not in (0, *_TRY_AGAIN) or time.monotonic() > until:
                break
            time.sleep(0.05)
        told = json.loads(text) if text else {}
        line = {"key": key, "status": status, "error": told.get("error"), "answer": told.get("answer")}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
