"""Clients that go without a word: nobody computes for them any longer."""

import os
from pathlib import Path
import signal
import threading

from goal_processes import goal_clients
from node_harness import eventually
import pytest

pytestmark = pytest.mark.slow

LEASE = """<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
<participant profile_name="short_lease" is_default_profile="true"><rtps><builtin>
<discovery_config><leaseDuration><sec>2</sec></leaseDuration>
<leaseAnnouncement><sec>0</sec><nanosec>500000000</nanosec></leaseAnnouncement>
</discovery_config></builtin></rtps></participant></profiles>
"""


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_client_that_goes(start_node, domain, client, panda, tmp_path, number):
    """Its goals end long before their time, also the waiting ones."""
    node = start_node(max_timeout=1000.0)
    client.describe(panda)
    profile = tmp_path / 'lease.xml'
    profile.write_text(LEASE)
    gone, = goal_clients(domain, 1, 3, 600, FASTRTPS_DEFAULT_PROFILES_FILE=str(profile))
    eventually(lambda: busy(node), 'a search')
    gone.send_signal(number)
    gone.wait(10)
    gone.stdout.close()
    eventually(lambda: not busy(node), 'the end of its goals', 60)


def busy(node):
    """Whether a worker process is computing."""
    return any(used(worker) > 0.02 for worker in node.workers())


def used(pid):
    """Give the part of a moment that a process computes in."""
    before = ticks(pid)
    threading.Event().wait(0.5)
    return (ticks(pid) - before) / os.sysconf('SC_CLK_TCK') / 0.5


def ticks(pid):
    try:
        fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])
