"""An accountant for Opacus: `import optcomp.interop.opacus`, then `PrivacyEngine(accountant="optcomp")`.

Optional: `pip install 'optcomp[opacus]'`.  Importing this module registers the name `optcomp` with Opacus, also for
`get_noise_multiplier`.  Every ε is the upper side of a proved bracket: never below the truth, rounding included, for
exact Gaussian noise on Poisson samples, which is what Opacus describes its steps as.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from optcomp.extras import needed

needed("opacus", "opacus")  # looked for here, so that its absence is told in one place

from opacus.accountants import IAccountant, register_accountant

from optcomp.interop.steps import Step, StepTotals
from optcomp.theorems import Bound

NAME = "optcomp"
"""What to call it in `PrivacyEngine(accountant=…)`."""


class OpacusAccountant(IAccountant):  # type: ignore[misc]  # Opacus is not typed
    """Keeps the history of an Opacus run and tells what it costs; asking after every step is cheap."""

    def __init__(self) -> None:
        super().__init__()
        self.history: list[Step] = []
        """Noise multiplier, sample rate, number of steps; others may replace it, as `get_noise_multiplier` does."""
        self._lock, self._totals = threading.RLock(), StepTotals()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One more optimisation step."""
        with self._lock:
            if self.history and tuple(self.history[-1][:2]) == (noise_multiplier, sample_rate):
                self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
            else:
                self.history.append((noise_multiplier, sample_rate, 1))

    def get_epsilon(self, delta: float, *args: object, **kwargs: object) -> float:
        """At least the ε spent so far at this δ; options of other accountants mean nothing here."""
        return self._totals.epsilon(self._steps(), delta)

    def get_delta(self, epsilon: float) -> float:
        """At least the δ spent so far at this ε."""
        return self._totals.delta(self._steps(), epsilon)

    def bound(self, delta: float) -> Bound:
        """Both sides and the theorem; `bound(delta).certificate()` is what `optcomp verify` proves again."""
        return self._totals.bound(self._steps(), delta)

    def _steps(self) -> list[Step]:
        with self._lock:
            return [(noise, rate, count) for noise, rate, count in self.history]

    def __len__(self) -> int:
        """How many optimisation steps were taken."""
        return sum(count for _, _, count in self._steps())

    @classmethod
    def mechanism(cls) -> str:
        """The name under which it is registered."""
        return NAME

    def state_dict(self, destination: Any = None) -> Any:
        """The history and the name of the accountant, for a checkpoint."""
        with self._lock:
            return super().state_dict(destination)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a checkpoint; its history is copied, so that it stays as it was."""
        with self._lock:
            super().load_state_dict(state_dict)
            self.history = [tuple(row) for row in self.history]  # type: ignore[misc]

    def __getstate__(self) -> dict[str, object]:
        return {"history": self._steps()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # locks and contours are made anew
        self.history = list(state["history"])


register_accountant(NAME, OpacusAccountant, force=True)
