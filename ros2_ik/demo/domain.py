"""Search for a free ROS domain."""

import os
import socket

PARTICIPANTS = 30   # looked for in a domain


def unused_domain() -> int:
    """Return a domain in which nothing runs on this machine, another one for each process."""
    for i in range(100):
        domain = 1 + (7 * os.getpid() + i) % 100   # processes in a row keep apart
        if not inhabited(domain):
            return domain
    raise RuntimeError('every ROS domain from 1 to 100 is in use on this machine')


def inhabited(domain: int) -> bool:
    """Return whether a ROS process of this machine is in a domain: its discovery port is bound."""
    return any(_bound(7410 + 250 * domain + 2 * participant)   # RTPS 2.5, section 9.6.2.3
               for participant in range(PARTICIPANTS))


def _bound(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return True
    return False
