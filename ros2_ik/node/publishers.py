"""Who publishes on a topic."""

from typing import Any


def publishers(node: Any, topic: str) -> list[str]:
    """Return the full names of nodes, one for each publisher that a node has discovered."""
    return sorted(f'{info.node_namespace.rstrip("/")}/{info.node_name}'
                  for info in node.get_publishers_info_by_topic(topic))
