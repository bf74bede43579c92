"""Mechanisms as people write them: on the command line, in files, on a page.  Text goes in, guarantees come out.

What cannot be read is refused by a `Complaint`, whose text says where it stands and what is wrong.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.reading.complaints import Complaint
    from optcomp.reading.entries import MechanismCounts, MechanismText, tally
    from optcomp.reading.entry_text import entry_from
    from optcomp.reading.expressions import Argument, Call, Malformed, is_expression, parse
    from optcomp.reading.format_names import SUFFIXES, Format
    from optcomp.reading.formats import blank, entries_of, sniff
    from optcomp.reading.mechanism_syntax import KINDS, Kind, Parameter, make, name_of, number, parameters, written
    from optcomp.reading.numbers import plain, real_number, whole_number
    from optcomp.reading.texts import items_in

_MODULE_OF = {
    "Argument": "expressions",
    "Call": "expressions",
    "Complaint": "complaints",
    "Format": "format_names",
    "KINDS": "mechanism_syntax",
    "Kind": "mechanism_syntax",
    "Malformed": "expressions",
    "MechanismCounts": "entries",
    "MechanismText": "entries",
    "Parameter": "mechanism_syntax",
    "SUFFIXES": "format_names",
    "blank": "formats",
    "entries_of": "formats",
    "entry_from": "entry_text",
    "is_expression": "expressions",
    "items_in": "texts",
    "make": "mechanism_syntax",
    "name_of": "mechanism_syntax",
    "number": "mechanism_syntax",
    "parameters": "mechanism_syntax",
    "parse": "expressions",
    "plain": "numbers",
    "real_number": "numbers",
    "sniff": "formats",
    "tally": "entries",
    "whole_number": "numbers",
    "written": "mechanism_syntax",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "Argument",
    "Call",
    "Complaint",
    "Format",
    "KINDS",
    "Kind",
    "Malformed",
    "MechanismCounts",
    "MechanismText",
    "Parameter",
    "SUFFIXES",
    "blank",
    "entries_of",
    "entry_from",
    "is_expression",
    "items_in",
    "make",
    "name_of",
    "number",
    "parameters",
    "parse",
    "plain",
    "real_number",
    "sniff",
    "tally",
    "whole_number",
    "written",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
