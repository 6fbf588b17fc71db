"""Search for a ROS domain that no process on this machine uses."""

import os
from pathlib import Path
import socket

_claims: list[socket.socket] = []   # sockets that claim domains for this process


def unused_domain() -> int:
    """
    Return a domain without participants on this machine.

    The domain is claimed until this process ends, so that this function does not return it to
    another process before the nodes of this process have started.
    """
    lines = Path('/proc/net/udp').read_text().splitlines()[1:]
    used = {int(line.split()[1].partition(':')[2], 16) for line in lines}   # local ports
    for i in range(100):
        # processes with consecutive ids start the search at different domains
        domain = 1 + (7 * os.getpid() + i) % 100
        # first port of the domain (RTPS specification 2.5, 9.6.2.3)
        first = 7400 + 250 * domain
        if used.isdisjoint(range(first, first + 250)) and _claim(domain):
            return domain
    raise RuntimeError('every ROS domain from 1 to 100 is in use on this machine')


def _claim(domain: int) -> bool:
    """Claim a domain for this process; return False if it is claimed already."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        # an abstract socket, which the kernel removes when the process ends
        claim.bind(f'\0ros2_ik_domain_{domain}')
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True
