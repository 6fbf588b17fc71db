"""What is told of motions, in the log and on /diagnostics."""

import numpy as np

from ros2_ik.core import Status
from ros2_ik.node.controllers.outcome import Outcome
from ros2_ik.node.controllers.trip import Trip


def log_line(trip: Trip, outcome: Outcome) -> str:
    """Return who moved what, how far, how long, and what became of it; the trip has been sent."""
    assert trip.sent is not None and trip.motion is not None
    start, end = trip.motion.at(0.0).position, trip.commanded(trip.now()).position
    far = np.abs(end - start)
    k = int(np.argmax(far))
    return (f"motion by {trip.who} of {_group(trip)} with {_controllers(trip)}: joint "
            f"'{trip.joints[k]}' went {far[k]:.3g}, the others less, in "
            f'{trip.now() - trip.sent:.2f} s: {Status(outcome.status).name}: '
            f'{outcome.message}')


def progress(trip: Trip) -> dict[str, str]:
    """Return what there is to say of a motion while it is under way."""
    assert trip.sent is not None and trip.motion is not None
    gone, whole = trip.now() - trip.sent, trip.motion.duration
    left = (trip.rest_at if trip.stopping else trip.end) - trip.now()
    return {'asked for by': trip.who, 'group': trip.group, 'controllers': _controllers(trip),
            'state': 'stopping' if trip.stopping else 'moving',
            'fraction': f'{min(gone / whole, 1.0) if whole else 1.0:.3f}',
            'time left [s]': f'{max(left, 0.0):.3f}',
            'tracking error [rad, m]': f'{trip.error:.4g}',
            'tracking delay [s]': f'{trip.lag:.3f}'}


def _group(trip: Trip) -> str:
    return f"group '{trip.group}'" if trip.group else f'{len(trip.joints)} joints'


def _controllers(trip: Trip) -> str:
    return ', '.join(controller.name for controller in trip.controllers)
