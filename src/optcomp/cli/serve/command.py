"""The command `serve`: start a data centre, or one to try."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optcomp as oc
from optcomp.cli.failures import Complaint, one_line
from optcomp.cli.writing.printing import say
from optcomp.cli.writing.wording import explained

if TYPE_CHECKING:
    from optcomp.center import Settings

_WITH_PAGES = "optcomp.pages.app:from_environment"
"""What workers run: the HTTP interface, and pages for people."""
_Home = Annotated[
    Path | None,
    typer.Argument(metavar="HOME", help="The home of a centre, made by `optcomp admin init`.", show_default=False),
]
_Demo = Annotated[bool, typer.Option("--demo", help="Make a centre to try: invented people, three analysts.")]
_DemoHome = Annotated[
    Path | None,
    typer.Option(
        "--home", metavar="FOLDER", help="Keep what --demo makes in this new folder; else it is dropped at the end."
    ),
]
_Port = Annotated[int, typer.Option(metavar="N", help="The port; 0 picks one.")]
_Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")]
_Workers = Annotated[int, typer.Option(metavar="N", help="How many processes serve.")]
_Certificate = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="FILE", help="The certificate, for TLS.", show_default=False)
]
_Key = Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="Its key.", show_default=False)]
_Proxy = Annotated[
    bool,
    typer.Option(
        "--behind-proxy",
        help="A proxy on this machine ends TLS and names the client; the setting `address` is its public address.",
    ),
]
_Json = Annotated[
    bool, typer.Option("--json", help="One line of JSON when the server answers, or when it could not start.")
]


def serve(
    home: _Home = None,
    demo: _Demo = False,
    demo_home: _DemoHome = None,
    port: _Port = 8000,
    host: _Host = "127.0.0.1",
    workers: _Workers = 1,
    tls_cert: _Certificate = None,
    tls_key: _Key = None,
    behind_proxy: _Proxy = False,
    as_json: _Json = False,
) -> None:
    """Serve a data centre: many analysts, each within a slot, under one proof.

    Logs are lines of JSON on standard error. SIGTERM or Ctrl-C ends it.

    optcomp serve /srv/center --workers 4 --behind-proxy

    optcomp serve --demo --port 0 --json
    """
    if demo == (home is not None):
        raise Complaint("give the home of a centre, or --demo")
    if demo_home is not None and not demo:
        raise Complaint("--home is for --demo")
    from optcomp.center import Listening
    from optcomp.center import serve as run

    listening = Listening(host, port, workers, tls_cert, tls_key, behind_proxy)
    with _failure_told(as_json):
        listening.check()
        with _prepared(home, demo_home) as (settings, told):
            answering = partial(_answering, told, as_json)
            run(settings, listening, answering, application=_WITH_PAGES)


@contextmanager
def _failure_told(as_json: bool) -> Iterator[None]:
    """Print a failure as a line of JSON too, for whoever waits for the line that says that the server answers."""
    try:
        yield
    except Exception as error:
        if as_json:
            words = explained(error) if isinstance(error, oc.OptcompError) else f"{type(error).__name__}, see the log"
            print(json.dumps({"error": one_line(words)}), flush=True)
        raise


@contextmanager
def _prepared(home: Path | None, demo_home: Path | None) -> Iterator[tuple[Settings, dict[str, Any]]]:
    """The settings, and what is told about a demonstration."""
    if home is not None:
        from optcomp.center import Settings

        settings = Settings.read(home)
        yield settings, {"ledger": settings.shown_ledger}
        return
    from optcomp.center import make_demo

    if demo_home is not None:
        made = make_demo(demo_home)
        yield made.settings, made.document()
        return
    with tempfile.TemporaryDirectory(prefix="optcomp-demo-", ignore_cleanup_errors=True) as folder:
        made = make_demo(Path(folder) / "center")
        yield made.settings, made.document()


def _answering(demo: dict[str, Any], as_json: bool, url: str) -> None:
    told = {"url": url, **demo}
    if as_json:
        print(json.dumps(told), flush=True)
        return
    say(f"answers at {told['url']}: open it in a browser; the interface for programs is {told['url']}/api/openapi.json")
    if "owner" in told:
        say("sign in there with one of these tokens:")
    for who in ("owner", "auditor"):
        if who in told:
            say(f"{who}: {told[who]}")
    for token in told.get("analysts", ()):
        say(f"analyst: {token}")
