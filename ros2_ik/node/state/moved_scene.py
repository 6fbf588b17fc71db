"""The scene of a robot that is described anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ros2_ik.core import IKError, Robot, Scene
from ros2_ik.node.conversions.planning_scenes import SceneState


def moved_over(old: SceneState, robot: Robot, log: Any) -> SceneState:
    """Give the scene to a robot of the same name; what does not fit is left out, and said."""
    source = old.scene
    scene = Scene(robot, source.guess_pairs).with_frames(source.frames)
    lost: list[str] = []
    for item in source.objects.values():
        with _noted(lost, item.id):
            scene = scene.add(item)
    for held in source.attached.values():
        names = held.touch_links & {*robot.frame_names, *source.attached}
        with _noted(lost, held.id):
            scene = scene.attach(held.object, held.link, names)
    for link, padding in source.padding.items():
        with _noted(lost, f'padding of {link}'):
            scene = scene.with_padding({link: padding})
    for link, factor in source.scale.items():
        with _noted(lost, f'scale of {link}'):
            scene = scene.with_scale({link: factor})
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
    return SceneState(scene.with_allowed(matrix), old.name, old.octomap)


@contextmanager
def _noted(lost: list[str], name: str) -> Iterator[None]:
    """Put down what cannot be moved over."""
    try:
        yield
    except IKError as error:
        lost.append(f"'{name}' ({error})")


def contents(scene: Scene) -> str:
    """Return how many objects there are."""
    count, held = len(scene.objects), len(scene.attached)
    return (f'{count} object{"s" * (count != 1)}'
            + (f' and {held} attached' if held else ''))
