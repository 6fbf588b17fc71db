"""Search for a ROS domain that no process on this machine uses."""

import os
import socket

MAX_PARTICIPANTS = 30   # participants per domain whose ports are probed
_claims: dict[int, socket.socket] = {}   # sockets that claim a domain for this process


def unused_domain() -> int:
    """
    Return a domain without participants on this machine.

    The domain is claimed until this process ends, so that this function does not return it to
    another process before the nodes of this process have started.
    """
    for i in range(100):
        # consecutive process ids start at different domains
        domain = 1 + (7 * os.getpid() + i) % 100
        # a participant binds its unicast discovery port (RTPS specification 2.5, 9.6.2.3)
        if all(_is_free(7410 + 250 * domain + 2 * participant)
               for participant in range(MAX_PARTICIPANTS)) and _claim(domain):
            return domain
    raise RuntimeError('every ROS domain from 1 to 100 is in use on this machine')


def _claim(domain: int) -> bool:
    """Claim a domain for this process; return False if another process has claimed it."""
    if domain not in _claims:
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # an abstract socket, which the kernel removes when the process ends
            claim.bind(f'\0ros2_ik_domain_{domain}')
        except OSError:
            claim.close()
            return False
        _claims[domain] = claim
    return True


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return False
    return True
