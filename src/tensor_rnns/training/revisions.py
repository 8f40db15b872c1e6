"""Raised by hand when a change of the engine or of the trainer changes results by more than the order of sums
does; a pinned loss curve guards both.

Every finished replica and every train job carries them in its digest, so that raising one retrains everything
that it touches, and leaving both alone retrains nothing.
"""

ENGINE = 3
TRAINING = 1
