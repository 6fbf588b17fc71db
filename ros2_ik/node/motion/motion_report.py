"""What is told of motions, in the log and on /diagnostics."""

import numpy as np

from ros2_ik.core import Status
from ros2_ik.node.motion.motion_execution import MotionExecution
from ros2_ik.node.motion.outcome import Outcome


def log_line(execution: MotionExecution, outcome: Outcome) -> str:
    """Return who moved what, how far, how long, and what became of it, once it was sent."""
    assert execution.motion is not None
    end = np.concatenate([one.commanded(execution.now()).position
                          for one in execution.controllers])
    far = np.abs(end - execution.motion.at(0.0).position)
    k = int(np.argmax(far))
    return (f'motion by {execution.who} of {_group(execution)} with {_controllers(execution)}: '
            f"joint '{execution.joints[k]}' went {far[k]:.3g}, the others less, in "
            f'{execution.now() - execution.sent_at:.2f} s: {Status(outcome.status).name}: '
            f'{outcome.message}')


def progress(execution: MotionExecution) -> dict[str, str]:
    """Return what there is to say of a motion while it is under way."""
    assert execution.motion is not None
    gone, whole = execution.now() - execution.sent_at, execution.motion.duration
    left = execution.end - execution.now()
    return {'asked for by': execution.who, 'group': execution.group,
            'controllers': _controllers(execution),
            'state': execution.phase.value,
            'fraction': f'{min(gone / whole, 1.0) if whole else 1.0:.3f}',
            'time left [s]': f'{max(left, 0.0):.3f}'}


def _group(execution: MotionExecution) -> str:
    return f"group '{execution.group}'" if execution.group else f'{len(execution.joints)} joints'


def _controllers(execution: MotionExecution) -> str:
    return ', '.join(controller.name for controller in execution.controllers)
