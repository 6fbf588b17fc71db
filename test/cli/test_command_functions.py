"""`ros2_ik functions`: the kinds, and the fields of one."""

from ros2_ik.core.internals import written_kinds


def test_all_kinds_are_listed(command):
    run = command('functions')
    assert run.code == 0
    assert [line.split()[0] for line in run.out.splitlines()[1:]] == list(written_kinds())


def test_the_fields_of_one(command):
    run = command('functions', 'gaze_angle')
    rows = {line.split()[0]: line for line in run.out.splitlines() if line}
    assert run.code == 0 and 'atan2' in run.out
    assert rows['axis'].endswith('needed') and rows['origin'].endswith('0 0 0')
    rows = [line.split() for line in command('functions', 'minimum_distance').out.splitlines()]
    assert [(row[0], row[-1]) for row in rows[-2:]] == [('influence', '0.2'), ('rows', '12')]


def test_a_kind_that_is_not_there(command):
    assert "unknown function 'gaze_angel'; did you mean 'gaze_angle'" in command(
        'functions', 'gaze_angel').refused()
