"""The demo's first question waits for the node, not for ever."""

import pytest

from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import Robot, shipped_robots
from ros2_ik.demo import first_question

MAKING = "COLLISION_CHECKING_UNAVAILABLE: the robot's collision geometry is still being made"


class Client:
    """A client of a node that refuses a few times."""

    def __init__(self, refusals):
        self.refusals = list(refusals)

    def connect(self, *_):
        return None

    def robot(self, _):
        return Robot.load('panda')

    def spin_until(self, *_):
        pass


@pytest.fixture
def ask(monkeypatch):
    monkeypatch.setattr(first_question, 'START', 0.0)    # all patience is at an end at once

    def answer(client, *_):
        if client.refusals:
            raise BadQuestion(client.refusals.pop(0))
        return 'an answer'
    monkeypatch.setattr(first_question, 'ask_ik', answer)
    return lambda *refusals: first_question.ask(Client(refusals), shipped_robots()['panda'])


def test_it_waits_while_the_node_makes_geometry_and_says_so_once(ask, capsys):
    assert ask(*[MAKING] * 5).answer == 'an answer'
    assert capsys.readouterr().err.count('waiting: ') == 1


def test_it_does_not_wait_for_a_robot_for_ever(ask):
    with pytest.raises(BadQuestion, match='there is no robot yet'):
        ask(*['INVALID_ROBOT_STATE: there is no robot yet'] * 5)
