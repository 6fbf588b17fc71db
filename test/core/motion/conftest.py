"""What the tests of motions share."""

import pytest


@pytest.fixture(params=['ruckig', 'closed form'])
def timing(request, monkeypatch):
    """Time motions by ruckig, and by what is used without it."""
    if request.param == 'ruckig':
        pytest.importorskip('ruckig')
    else:
        monkeypatch.setattr('ros2_ik.core.motion.timing.ruckig', None)
