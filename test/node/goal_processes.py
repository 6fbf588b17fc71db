"""Clients of solve_constrained_ik in processes of their own."""

import os
from pathlib import Path
import subprocess
import sys


def goal_clients(domain, count, *arguments, **environment):
    """Start goal_client.py so many times and wait until all are ready."""
    command = [sys.executable, str(Path(__file__).parent / 'goal_client.py'),
               *map(str, arguments)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                env={**os.environ, 'ROS_DOMAIN_ID': str(domain), **environment})
               for _ in range(count)]
    for each in started:
        assert each.stdout.readline() == 'ready\n'
    return started
