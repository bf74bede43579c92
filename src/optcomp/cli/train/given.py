"""What `train` was given, read: the run, or how to make it from the number that is sought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction

from optcomp.cli.failures import Complaint
from optcomp.cli.train.schedule_file import FIELDS, phases_from
from optcomp.errors import InvalidInput
from optcomp.numerics import Number, exact
from optcomp.reading import plain, whole_number
from optcomp.training import (
    ALGORITHMS,
    BATCHES,
    NEIGHBOURS,
    Found,
    Phase,
    TrainingRun,
    chosen,
    found_noise,
    found_whole,
    joint_noise,
    neighbours_for,
    schedule_of,
)

_MOST = 10**12
"""More examples than anybody has."""
_MOST_GROUP, _MOST_ACCUMULATED = 1000, 10**6
"""Examples of one person, and physical batches of one step, beyond which it is a slip."""
_OPTIONS = {"count_sigma": "clip-sigma", **{name: name for name in (*FIELDS, "neighbours", "group", "examples")}}
"""Arguments of the library, and the options they come from."""


@contextmanager
def in_words() -> Iterator[None]:
    """Complain about options by their names."""
    try:
        yield
    except InvalidInput as error:
        if error.argument not in _OPTIONS:
            raise
        raise Complaint(f"--{_OPTIONS[error.argument]}: {str(error).partition(': ')[2]}") from None


@dataclass(frozen=True)
class TrainGiven:
    """The options, as text, and what is the same for all phases."""

    numbers: Mapping[str, str]
    """Of sigma, rate, batch, steps and epochs those that were given."""
    phases: tuple[Mapping[str, str], ...] = ()
    examples: int | None = None
    accumulate: int = 1
    clip_sigma: str | None = None
    frame: TrainingRun = field(default_factory=lambda: TrainingRun(()))
    """A run without phases: batches, neighbours, group."""

    def run(self, **sought: Number) -> TrainingRun:
        """The run; `sought` fills in what was left out."""
        known: dict[str, Number] = {**self.numbers, **sought}
        phases = tuple(self._phase(_overridden(known, phase)) for phase in self.phases or ({},))
        return replace(self.frame, phases=phases)

    def _phase(self, numbers: Mapping[str, Number]) -> Phase:
        sigma = numbers.get("sigma")
        if sigma is None:
            raise Complaint("give --sigma; or both --epsilon and --delta, and the least σ is sought")
        noise = exact(sigma, "sigma") if self.clip_sigma is None else joint_noise(sigma, self.clip_sigma)
        rest = {name: numbers.get(name) for name in FIELDS if name != "sigma"}
        self._complete(rest)
        return Phase(noise, schedule_of(examples=self.examples, accumulate=self.accumulate, **rest))

    def _complete(self, rest: Mapping[str, Number | None]) -> None:
        for one, other in (("rate", "batch"), ("steps", "epochs")):
            if rest[one] is not None and rest[other] is not None:
                raise Complaint(f"give one of --{one} and --{other}, not both")
            if rest[one] is None and rest[other] is None:
                raise Complaint(f"give --{other} or --{one}")
        if rest["batch"] is not None and self.examples is None:
            raise Complaint("give --examples with --batch, or --rate in place of both")

    def found(self, epsilon: str, delta: str) -> Found:
        """The one of σ, batch and steps that was left out."""
        missing = self._missing()
        if missing == "sigma":
            return found_noise(lambda number: self.run(sigma=number), epsilon, delta)
        if missing == "batch":
            most = self.examples
            if most is None:
                raise Complaint("give --examples, so that a batch can be sought")
            return found_whole("batch", lambda number: self.run(batch=number), epsilon, delta, most // self.accumulate)
        return found_whole("steps", lambda number: self.run(steps=number), epsilon, delta)

    def _missing(self) -> str:
        given = set(self.numbers)
        missing = [
            name
            for name, others in (("sigma", {"sigma"}), ("batch", {"batch", "rate"}), ("steps", {"steps", "epochs"}))
            if not given & others and not any(others & set(phase) for phase in self.phases)
        ]
        if len(missing) != 1:
            raise Complaint(
                "with both --epsilon and --delta leave out exactly one of --sigma, --batch and --epochs, and it is "
                f"sought; left out {', '.join(f'--{name}' for name in missing) or 'none'}"
            )
        return missing[0]


def train_given(
    numbers: Mapping[str, str | None],
    examples: str | None,
    schedule: str | None,
    batches: str,
    neighbours: str | None,
    algorithm: str,
    group: str,
    accumulate: str,
    clip_sigma: str | None,
) -> TrainGiven:
    """All options, read; what is refused is refused here."""
    chosen(ALGORITHMS, algorithm, "--algorithm")
    kind = chosen(BATCHES, batches, "--batches")
    relation = None if neighbours is None else chosen(NEIGHBOURS, neighbours, "--neighbours")
    count = None if examples is None else whole_number(examples, "--examples", 1, _MOST)
    size = whole_number(group, "--group", 1, _MOST_GROUP)
    frame = TrainingRun((), kind, neighbours_for(kind, relation), size, count)
    return TrainGiven(
        {name: plain(text, f"--{name}") for name, text in numbers.items() if text is not None},
        tuple(phases_from(schedule)) if schedule is not None else (),
        count,
        whole_number(accumulate, "--accumulate", 1, _MOST_ACCUMULATED),
        None if clip_sigma is None else plain(clip_sigma, "--clip-sigma"),
        frame,
    )


def _overridden(numbers: Mapping[str, Number], phase: Mapping[str, str]) -> dict[str, Number]:
    """What a phase says goes before the options; a batch replaces a rate, and steps replace epochs."""
    other = {"rate": "batch", "batch": "rate", "steps": "epochs", "epochs": "steps"}
    hidden = {other[name] for name in phase if name in other}
    return {**{name: value for name, value in numbers.items() if name not in hidden}, **phase}


def delta_of(delta: str | None) -> Fraction | None:
    """The δ that was given, exactly."""
    return None if delta is None else Fraction(exact(delta, "delta"))
