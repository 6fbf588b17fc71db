"""Files that a command is told of: anything but a regular one is refused at once, in one line."""

import os

import pytest

POSE = ('--xyz', '0.4', '0.1', '0.4')
NAMED = [
    ('solve', '{}', *POSE), ('solve', '{arm}', '--srdf', '{}', *POSE),
    ('solve', 'panda', '--scene', '{}', *POSE), ('fk', '{}', '--tip', 'tip'),
    ('robots', '{}'), ('constrained', '{}', '--robot', 'panda')]


@pytest.mark.parametrize('words', NAMED, ids=lambda words: ' '.join(words[:3]))
@pytest.mark.parametrize('kind', ['device', 'pipe', 'folder'])
def test_only_regular_files_are_read(command, words, kind, tmp_path, planar_arm):
    path = tmp_path / 'named'
    if kind == 'device':
        path.symlink_to('/dev/zero')
    elif kind == 'pipe':
        os.mkfifo(path)
    else:
        path.mkdir()
    reason = command(*(word.format(path, arm=planar_arm) for word in words)).refused()
    assert 'it is not a regular file' in reason
