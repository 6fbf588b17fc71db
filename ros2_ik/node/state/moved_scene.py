"""The scene of a robot that is described anew."""

from collections.abc import Callable
from typing import Any

from ros2_ik.core import IKError, Robot, Scene
from ros2_ik.node.conversions.planning_scenes import Known


def moved_over(old: Known, robot: Robot, log: Any) -> Known:
    """Give the scene to a robot of the same name; what does not fit is left out, and said."""
    source = old.scene
    scene = Scene(robot, source.guess_pairs).with_frames(source.frames)
    lost = []
    for item in source.objects.values():
        scene = _tried(scene, lost, item.id, lambda s, item=item: s.add(item))
    for held in source.attached.values():
        names = held.touch_links & {*robot.frame_names, *source.attached}
        scene = _tried(scene, lost, held.id, lambda s, held=held, names=names: s.attach(
            held.object, held.link, names))
    for link, padding in source.padding.items():
        scene = _tried(scene, lost, f'padding of {link}',
                       lambda s, link=link, padding=padding: s.with_padding({link: padding}))
    for link, factor in source.scale.items():
        scene = _tried(scene, lost, f'scale of {link}',
                       lambda s, link=link, factor=factor: s.with_scale({link: factor}))
    usual = Scene(source.robot).allowed
    matrix = scene.allowed
    for pair, allowed in source.allowed.pairs.items():
        if usual.pairs.get(pair) != allowed:
            matrix = matrix.with_pair(*pair, allowed)
    for name, allowed in source.allowed.defaults.items():
        matrix = matrix.with_default(name, allowed)
    if lost:
        log.warning(f"robot '{robot.name}' is described anew; gone from the scene: "
                    + ', '.join(lost))
    elif scene.objects or scene.attached:
        log.info(f"robot '{robot.name}' is described anew; the scene stays, with "
                 f'{contents(scene)}')
    return Known(scene.with_allowed(matrix), old.name, old.octomap)


def _tried(scene: Scene, lost: list[str], name: str, change: Callable[[Scene], Scene]) -> Scene:
    try:
        return change(scene)
    except IKError as error:
        lost.append(f"'{name}' ({error})")
        return scene


def contents(scene: Scene) -> str:
    """Return how many objects there are."""
    count, held = len(scene.objects), len(scene.attached)
    return (f'{count} object{"s" * (count != 1)}'
            + (f' and {held} attached' if held else ''))
