"""Search for a free ROS domain."""

import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ros2_ik.cli.node_client import NodeClient

DISCOVERY = 3.0     # seconds in which running nodes make themselves known
LAST = 232          # the ports of higher ones do not exist
PARTICIPANTS = 30   # looked for in a domain


def current_domain() -> int:
    """Return ROS_DOMAIN_ID as a number; raises ValueError."""
    text = os.environ.get('ROS_DOMAIN_ID') or '0'
    if not (text.isdecimal() and int(text) <= LAST):
        raise ValueError(f"ROS_DOMAIN_ID is '{text}'; valid: 0 to {LAST}")
    return int(text)


def unused_domain() -> int:
    """Return a domain in which nothing runs on this machine, another one for each process."""
    for i in range(100):
        domain = 1 + (7 * os.getpid() + i) % 100   # processes in a row keep apart
        if not inhabited(domain):
            return domain
    raise RuntimeError('every ROS domain from 1 to 100 is in use on this machine')


def inhabited(domain: int) -> bool:
    """Return whether a ROS process of this machine is in it: its discovery port is bound."""
    return any(_bound(7410 + 250 * domain + 2 * participant)   # RTPS 2.5, section 9.6.2.3
               for participant in range(PARTICIPANTS))


def _bound(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return True
    return False


def occupant(client: 'NodeClient') -> str | None:
    """Describe a robot or a node /ros2_ik in the client's domain; None if there is none."""
    def found() -> str | None:
        publishers = client.node.get_publishers_info_by_topic('/robot_description')
        if publishers:
            name = publishers[0].node_name   # '_NODE_NAME_UNKNOWN_' until it is discovered
            return f'{"a node" if name[0] == "_" else name} publishes a robot_description'
        answering = client.node.count_services('/ros2_ik/compute_ik')
        return 'a node /ros2_ik runs' if answering else None
    client.spin_until(lambda: found() is not None, DISCOVERY)
    return found()
