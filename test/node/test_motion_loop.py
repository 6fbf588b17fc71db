"""Ask, move, read joint_states, compare: poses among objects, with judges of every motion."""

from pose_tour import toured
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.timeout(600)
@pytest.mark.parametrize('robot', ['panda', 'ur5'])
def test_random_poses_beside_a_table(domain, tmp_path, robot):
    tour, mock_log, node_log = toured(domain, tmp_path, robot, 'table', 6)
    assert not tour.complaints, tour.complaints
    assert tour.kinds['arrived'] and tour.kinds['arrived'] + tour.kinds['blocked'] >= 5, [
        (leg.kind, leg.message) for leg in tour.legs]
    assert 'defect:' not in mock_log, mock_log
    assert '[ERROR]' not in node_log, node_log
