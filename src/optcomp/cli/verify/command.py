"""The command `verify`: prove a certificate's claim again, independently of whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.reading.file_text import text_of

NOT_PROVED = 1
"""The exit code for a claim that is false, undecided, or not understood."""

_Certificate = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The certificate, or a release of a plan, a JSON file; - is standard input.",
        show_default=False,
    ),
]
_From = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="The mechanisms, where the certificate holds only their digest: CSV, JSON or YAML as for compose. "
        "May be repeated.",
        show_default=False,
    ),
]


def verify(
    certificate: _Certificate,
    files: _From = None,
    format: options.FileFormat = None,
    as_json: options.PlainJson = False,
) -> None:
    """Prove a certificate's claim again in ball arithmetic, with code that shares nothing with what made it.

    Of a release also the plan, the noise and the total are compared with its certificate.

    Exit code 0 if the claim is proved; 1 if it is false, not decided, or not understood.

    optcomp verify certificate.json

    optcomp verify certificate.json --from release.csv

    optcomp verify plan.release.json
    """
    from optcomp.cli.verify.verdicts import checked, document_of, show_verdict, verified_release

    if certificate == "-" and "-" in (files or ()):
        raise Complaint("--from: standard input can be read only once")
    name = "standard input" if certificate == "-" else certificate
    document = document_of(text_of(certificate, name))
    if isinstance(document, Mapping) and document.get("format") == "optcomp-release":
        proved = verified_release(document, files, name, as_json)
    else:
        verdict = checked(document, files, format)
        show_verdict(verdict, name, as_json)
        proved = verdict.proved
    if not proved:
        raise typer.Exit(NOT_PROVED)
