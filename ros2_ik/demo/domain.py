"""Search for a free ROS domain."""

import os
import socket

PARTICIPANTS = 30   # participants per domain that are searched for
_claims: dict[int, socket.socket] = {}   # of this process, by domain


def unused_domain() -> int:
    """
    Return a domain without participants on this machine.

    The domain is claimed until this process ends: no other process gets it from this function,
    although its own nodes start later.
    """
    for i in range(100):
        domain = 1 + (7 * os.getpid() + i) % 100   # consecutive processes start at others
        if not inhabited(domain) and _claim(domain):
            return domain
    raise RuntimeError('every ROS domain from 1 to 100 is in use on this machine')


def _claim(domain: int) -> bool:
    """Claim a domain for this process; return whether no other process has it."""
    if domain in _claims:
        return True
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f'\0ros2_ik_domain_{domain}')   # abstract: gone when the process ends
    except OSError:
        claim.close()
        return False
    _claims[domain] = claim
    return True


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
