"""Asks the demo's node one question and judges the answer: python -m ros2_ik.demo.once ROBOT."""

import sys

from ros2_ik.cli.answer import print_answer
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import shipped_robots
from ros2_ik.demo.first_question import ask, holds


def main() -> int:
    """Return 0 only if the answer holds."""
    try:
        with NodeClient('/ros2_ik') as client:
            first = ask(client, shipped_robots()[sys.argv[1]])
    except BadQuestion as refusal:
        print(f'no answer: {refusal}', file=sys.stderr)
        return 1
    print_answer(first.answer, first.robot)
    if holds(first):
        print('the answer holds')
        return 0
    print('the answer does NOT hold')
    return 1


if __name__ == '__main__':
    sys.exit(main())
