"""Draw mutants of the product: one node of one syntax tree changed, by a seed.

Kinds of changes: another comparison, arithmetic or boolean operator, `not` removed, an integer one more or less, a
condition negated, another returned value, a statement that is a call removed, and directions in names exchanged (`min`
and `max`, `_up` and `_down`).  Only the bytes of the changed node differ from the original file.

Every package has one mutant at least; further ones go to packages in proportion to their lines, so that a larger number
only adds mutants.  Within a package candidates are ordered by random numbers that depend on the seed and the mutant's
own name: an edit elsewhere leaves the draw as it is.  Candidates that no test could notice are left out by rule
(annotations, texts of errors, `__repr__`, logging, numeric constants of modules, most of which limit effort) or, after
somebody has read the code, by a line in `EXCLUDED`; the next candidate of the package takes its place.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

SOURCES = Path("src/optcomp")

EXCLUDED: dict[str, str] = {
    # numerics
    "numerics/laws/pieces.py Piece.log_d: return 0 * t + value[0], 0 [* -> /] t + error[0]": (
        "equivalent: this branch has panels of [-1, 1] whose edges are binary fractions, so that no node t is 0"
    ),
    "numerics/grids/few_rounds.py Grid._settled_place: y = min(found, y) if [self._towards -> not (…)] else y": (
        "effort: y only says for which place the next coarse grid is made; the root is proved afterwards"
    ),
    "numerics/contour/swept.py Sweep.run: if share [>= -> >] _DENSE:": (
        "effort: with exactly this share of nodes, all of them are computed or the faint ones left out"
    ),
    "numerics/laws/pieces.py Piece.moment: rest = [8 -> 9] * most * normal_tail(arb(_REAC": (
        "equivalent but for digits that no test sees: a bound on a tail of 1e-71, an eighth larger and still valid"
    ),
    "numerics/contour/several.py Several._between: p.abs(rough - fitted[0])[inside] <= near [* -> /] "
    "fitted[0][inside]))": (
        "effort: starting values of a search; roots that do not settle are not claimed, and composed from the start"
    ),
    # theorems
    "theorems/growing.py _Contours._all_below: if [not -> nothing] found[told].all() and not way.": (
        "effort: without the sharper contour the answer is None, and the total is composed from the start"
    ),
    "theorems/label_guess.py _best: _far(law, log_t - _SURE - math.log(count [* -> /] len(rounds))))": (
        "effort: a guess of where labels begin; the bound is proved for any such ends"
    ),
    "theorems/far_rounds.py excess: if not known.capped [or -> and] (math.isfinite(first.lower) an": (
        "effort: the loop goes on although the bracket is narrow enough; it never becomes wider"
    ),
    # checker
    "checker/laws/batch_normal.py BatchNormal._error: nt) * ratio.log()).exp() / (1 - ratio**- [2 -> 1] )": (
        "equivalent but for the last digits: a bound on an error below the working precision, at most twice as large"
    ),
    "checker/laws/batch_normal.py BatchNormal._guess_upright: least, lost = np. [maximum -> minimum] "
    "(np.minimum(angle, log.imag),": (
        "effort: a guess in floats that chooses the height of a line; the bound is proved for any height"
    ),
    "checker/sums/plan.py Sketch.contour: (grid[max(best - 1, 0)], grid[min(best + [1 -> 2] "
    ", grid.size - 1)], _REFINED)": ("effort: a search in floats for a good tilt; the bound is proved for any tilt"),
    "checker/laws/laplace_rule.py LaplaceRule._choice: ddle, half) = float(self.rate), ctx.prec [* -> /] "
    "math.log(2) + 8, self._lengths": ("effort: more points of a quadrature rule than its error bound asks for"),
    # center
    "center/curves.py Clock.allows: return time.monotonic() + (cost [or -> and] self.cost) <= self.until": (
        "speed: how long before its deadline a curve stops"
    ),
    # cli
    "cli/show/loss_histogram.py histogram: if len(atoms) [> -> >=] _MANY and sum(weight for _, we": (
        "no promise: with exactly so many atoms, needles and bars are equally right"
    ),
    # modules of optcomp itself
    "errors.py MechanismClosed.__init__: [super().__init__(reason) -> pass]": "the text of an error",
}
"""Mutants that are not drawn, by name, with the reason: equivalent, another effort or speed, or no promise about it."""

_OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "and": "or", "or": "and"}
_OPERATORS |= {"is": "is not", "is not": "is", "in": "not in", "not in": "in"}
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "*", "%": "*", "**": "*", "<<": ">>", ">>": "<<"}
_ARITHMETIC |= {"&": "|", "|": "&", "^": "&"}
_OPERATORS |= _ARITHMETIC | {f"{before}=": f"{after}=" for before, after in _ARITHMETIC.items()}
_OPERATOR = re.compile(r"[^\s()]+(?:\s+(?:not|in)\b)?")
_DIRECTIONS = {"min": "max", "minimum": "maximum", "up": "down", "lower": "upper", "floor": "ceil"}
_DIRECTIONS |= {after: before for before, after in _DIRECTIONS.items()}
_RETURNED = {"bool": "not ({})", "int": "({}) + 1", "Fraction": "({}) + 1", "str": '""'}
"""What a function returns instead, by its annotation; None otherwise."""


@dataclass(frozen=True)
class Mutant:
    """One change of one file: the bytes from `start` to `end` become `text`."""

    path: str
    line: int
    change: str
    start: int
    end: int
    text: str
    scope: str
    number: int = 1

    @property
    def name(self) -> str:
        """Identifies the mutant as long as its function is not edited: no line, no offset."""
        repeated = f" #{self.number}" if self.number > 1 else ""
        return f"{self.path} {self.scope or 'module'}: {self.change}{repeated}"

    @property
    def package(self) -> str:
        """The package below `optcomp`, empty for modules of `optcomp` itself."""
        return self.path.partition("/")[0] if "/" in self.path else ""

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


class Finder:
    """Collects the mutants of one file."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source, self.found = path, source, list[Mutant]()
        self._words = frozenset(re.findall(r"\w+", source.decode()))
        self._starts = [0, *(place.end() for place in re.finditer(rb"\n", source))]
        self._seen = Counter[tuple[str, str]]()
        self._walk(ast.parse(source), "", None)

    def _walk(self, node: ast.AST, scope: str, instead: str | None) -> None:
        """Collect the mutants of a node and those below it; `instead` is what the function returns in a mutant."""
        if _is_unseen(node, scope, in_function=instead is not None):
            return
        for start, end, text in self._changes(node, instead):
            change = _shown(self.source, start, end, text)
            self._seen[scope, change] += 1
            line = self.source.count(b"\n", 0, start) + 1
            self.found.append(Mutant(self.path, line, change, start, end, text, scope, self._seen[scope, change]))
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            scope = f"{scope}.{node.name}".lstrip(".")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            instead = _RETURNED.get(ast.unparse(node.returns) if node.returns else "", "None")
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns", "decorator_list"):
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        self._walk(child, scope, instead)

    def _changes(self, node: ast.AST, instead: str | None) -> Iterator[tuple[int, int, str]]:
        """Changes of one node: first byte, the byte after the last, and the text in their place."""
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from self._operators(left, *others)
            case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
                yield from self._operators(left, right)
            case ast.BoolOp(values=values):
                yield from self._operators(*values)
            case ast.UnaryOp(op=ast.Not()):
                start, _ = self._span(node)
                yield start, start + len("not "), ""
            case ast.If(test=test) | ast.IfExp(test=test) if not _is_negated_elsewhere(test):
                yield *self._span(test), f"not ({self._text(test)})"
            case ast.Return(value=ast.expr() as value) if not _is_negated_elsewhere(value):
                if instead is not None and ast.unparse(value) not in ("None", instead):
                    yield *self._span(value), instead.replace("{}", self._text(value))
            case ast.Expr(value=ast.Call() | ast.Await()) if instead is not None:
                yield *self._span(node), "pass"
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                start, end = self._span(node)
                yield start, end, str(number + random.Random(_shown(self.source, start, end, "")).choice((-1, 1)))
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                other = "_".join(_DIRECTIONS.get(part, part) for part in name.split("_"))
                if other != name and (other in self._words or other in _DIRECTIONS):
                    end = self._span(node)[1]
                    yield end - len(name.encode()), end, other

    def _operators(self, *operands: ast.expr) -> Iterator[tuple[int, int, str]]:
        """Other operators between operands."""
        for left, right in pairwise(operands):
            start, end = self._span(left)[1], self._span(right)[0]
            gap = self.source[start:end].decode()
            if "#" not in gap and (match := _OPERATOR.search(gap)) and match[0] in _OPERATORS:
                yield start + match.start(), start + match.end(), _OPERATORS[match[0]]

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """First byte of a node, and the byte after its last."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.source[start:end].decode()


def _is_unseen(node: ast.AST, scope: str, *, in_function: bool) -> bool:
    """Whether no test can notice a change of a node: see the draw above."""
    match node:
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.pattern():
            return True
        case ast.If(test=ast.Name(id=name) | ast.Compare(left=ast.Name(id=name))):
            return name in ("TYPE_CHECKING", "__name__")
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return not scope and _is_numeric(value)
        case ast.FunctionDef(name=name):
            return name in ("__repr__", "__str__", "__hash__")
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name))):
            return name in ("isinstance", "cast", "TypeVar", "getLogger", "LOG", "logging", "warnings")
        case ast.BinOp(op=ast.BitOr()):
            return not in_function  # a union of types
    return False


def _is_numeric(value: ast.expr) -> bool:
    """Whether an expression has numbers, functions of numpy or math, and neither texts nor other names."""
    names = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
    return names <= {"np", "math"} and not any(isinstance(getattr(part, "value", 0), str) for part in ast.walk(value))


def _is_negated_elsewhere(test: ast.expr) -> bool:
    """Whether another mutant, of its operator, already is the negation."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _shown(source: bytes, start: int, end: int, text: str) -> str:
    """Return a change within its line: `if a [< -> <=] b:`."""
    first, last = source.rfind(b"\n", 0, start) + 1, source.find(b"\n", end)
    left, right = (part.decode().strip() for part in (source[first:start], source[end : last % (len(source) + 1)]))
    before = " ".join(source[start:end].decode().split())
    after = " ".join(text.split()).replace(before, "…") if len(before) > 3 else text
    return f"{left[-40:]} [{before} -> {after or 'nothing'}] {right[:30]}".strip()


def sources(tree: Path) -> dict[str, bytes]:
    """Contents of all modules of the product, by their path below `optcomp`."""
    home = tree / SOURCES
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in sorted(home.rglob("*.py"))}


def draw(files: dict[str, bytes], seed: int, wanted: int) -> list[Mutant]:
    """Return so many mutants, of each package in proportion to its lines; the first ones are one of each package."""
    lines, candidates = Counter[str](), dict[str, list[Mutant]]()
    for path, source in files.items():
        for mutant in Finder(path, source).found:
            candidates.setdefault(mutant.package, []).append(mutant)
        lines[path.partition("/")[0] if "/" in path else ""] += source.count(b"\n")
    for group in candidates.values():
        group.sort(key=lambda mutant: random.Random(f"{seed} {mutant.name}").random(), reverse=True)
    drawn, taken = list[Mutant](), Counter[str]()
    while len(drawn) < wanted:
        package = max(candidates, key=lambda name: (taken[name] == 0, lines[name] / (taken[name] + 0.5), name))
        mutant = candidates[package].pop()
        if mutant.name not in EXCLUDED:
            drawn.append(mutant)
            taken[package] += 1
    return drawn
