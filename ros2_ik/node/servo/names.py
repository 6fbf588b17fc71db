"""What the servo's process has to know of the node it belongs to."""

from typing import Any, NamedTuple

TOPICS = ('target', 'twist', 'joint_jog', 'status')


class Names(NamedTuple):
    """The node, and whole names of topics; `topics` are those below `~/servo`."""

    node: str
    namespace: str
    joint_states: str
    topics: dict[str, str]
    simulated: bool


def servo_names(node: Any) -> Names:
    """Return the names of a node, with all that it was told to call otherwise."""
    return Names(node.get_name(), node.get_namespace(), node.resolve_topic_name('joint_states'),
                 {name: node.resolve_topic_name(f'~/servo/{name}') for name in TOPICS},
                 bool(node.get_parameter('use_sim_time').value))
