"""Asks the demo's node and judges the answers: python -m ros2_ik.demo.once ROBOT [SCENE]."""

import sys

from ros2_ik.cli.answer import print_answer
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import shipped_robots, ShippedRobot
from ros2_ik.demo.first_question import ask, ask_inside, contacts, FirstQuestion, holds


def main() -> int:
    """Return 0 only if the answers hold."""
    shipped = shipped_robots()[sys.argv[1]]
    scene = sys.argv[2] if len(sys.argv) > 2 else ''
    try:
        with NodeClient('/ros2_ik') as client:
            first = ask(client, shipped, scene)
            second = ask_inside(client, shipped, first) if scene else None
    except BadQuestion as refusal:
        print(f'no answer: {refusal}', file=sys.stderr)
        return 1
    good = _judged(first, shipped)
    if scene:
        good = _refused(second, shipped) and good
    return 0 if good else 1


def _judged(asked: FirstQuestion, shipped: ShippedRobot) -> bool:
    print_answer(asked.answer, asked.robot)
    touching = contacts(asked, shipped)
    print(f'checked here: {touching}' if touching else 'checked here: nothing touches')
    good = holds(asked) and not touching
    print('the answer holds' if good else 'the answer does NOT hold')
    return good


def _refused(second: tuple[str, FirstQuestion] | None, shipped: ShippedRobot) -> bool:
    """Judge the answer to the question inside an object: a refusal, or one that holds."""
    if second is None:
        print('\nno object of the scene is within reach of the tip: no second question')
        return True
    name, asked = second
    x, y, z = asked.wanted.T[:3, 3]
    print(f"\na second question, inside '{name}' at {x:.3f} {y:.3f} {z:.3f}:")
    if asked.answer.success:
        return _judged(asked, shipped)
    print(f'{asked.answer.status}: {asked.answer.message}')
    return True


if __name__ == '__main__':
    sys.exit(main())
