"""Training with noisy gradients: from examples, batch, epochs and noise to a proved ε, and back.

A run is described as people have it, counted as steps of sampled Gaussian noise, and composed like anything else.  What
would be about something else is refused with the reason.
"""

from optcomp.training.finding import Found, found_noise, found_whole
from optcomp.training.formulas import ACCOUNTANTS, Said, others_say
from optcomp.training.kinds import ALGORITHMS, BATCHES, NEIGHBOURS, Algorithm, Batches, Neighbours, chosen
from optcomp.training.notes import STANDING, notes_on, warnings_on
from optcomp.training.runs import Phase, Schedule, TrainingRun, joint_noise, neighbours_for, schedule_of
from optcomp.training.totals import Point, Total, first_steps, over_steps, total_of

__all__ = [
    "ACCOUNTANTS",
    "ALGORITHMS",
    "Algorithm",
    "BATCHES",
    "Batches",
    "Found",
    "NEIGHBOURS",
    "Neighbours",
    "Phase",
    "Point",
    "STANDING",
    "Said",
    "Schedule",
    "Total",
    "TrainingRun",
    "chosen",
    "first_steps",
    "found_noise",
    "found_whole",
    "joint_noise",
    "neighbours_for",
    "notes_on",
    "others_say",
    "over_steps",
    "schedule_of",
    "total_of",
    "warnings_on",
]
