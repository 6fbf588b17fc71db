"""--meshes of the commands that solve: what stands for the robot's meshes."""

import pytest


@pytest.mark.parametrize('meshes', ['exact', 'hull', 'pieces'])
def test_solve_takes_what_stands_for_meshes(command, meshes):
    run = command('solve', 'ur5', '--xyz', '0.4', '0.2', '0.4', '--meshes', meshes, '--json')
    assert run.code == 0 and run.json['success']


def test_an_unknown_kind_of_meshes_is_refused(command):
    run = command('solve', 'ur5', '--xyz', '0.4', '0.2', '0.4', '--meshes', 'boxes')
    assert run.code != 0 and all(word in run.err for word in ('boxes', 'exact', 'hull', 'pieces'))


def test_meshes_say_nothing_where_nothing_is_checked(command):
    run = command('solve', 'ur5', '--xyz', '0.4', '0.2', '0.4', '--meshes', 'hull',
                  '--allow-collisions')
    assert run.code != 0 and '--meshes and --allow-collisions' in run.err
