"""mink's side of velocity_ik.py: the same tasks and limits, in MuJoCo's words."""

from collections.abc import Iterator
from pathlib import Path
import time
from xml.etree import ElementTree

import mink
import mujoco
import numpy as np

DAMPING = 1e-12


class Mink:
    """One robot of a URDF file; `pairs` of links are to stay `margin` [m] apart."""

    def __init__(self, urdf: Path, frames: tuple[str, ...], speeds: dict[str, float], gain: float,
                 posture: float, pairs: list[tuple[str, str]], margin: float) -> None:
        self.model = model = mujoco.MjModel.from_xml_string(_for_mujoco(urdf))
        self.joints = [model.joint(name).qposadr[0] for name in speeds]
        self.configuration = mink.Configuration(model)
        self.tasks = [mink.FrameTask(frame, 'body', 1.0, 1.0, gain=gain, lm_damping=1.0)
                      for frame in frames]
        self.posture = mink.PostureTask(model, posture ** 0.5, gain=gain)
        self.limits = [mink.ConfigurationLimit(model, gain), mink.VelocityLimit(model, speeds)]
        if pairs:
            shapes = {model.body(i).name: np.flatnonzero(model.geom_bodyid == i).tolist()
                      for i in range(model.nbody)}
            self.limits.append(mink.CollisionAvoidanceLimit(
                model, [(shapes[a], shapes[b]) for a, b in pairs],
                minimum_distance_from_collisions=margin,
                collision_detection_distance=margin + 0.05))

    def run(self, start: np.ndarray, targets: list[list[np.ndarray]], steps: int, dt: float
            ) -> Iterator[tuple[np.ndarray, float, bool]]:
        """Yield joint values, CPU time [s] and whether an exception was raised, step by step."""
        at = self.configuration
        q = at.q.copy()
        q[self.joints] = start
        at.update(q)
        self.posture.set_target(q)
        for poses in targets:
            for task, T in zip(self.tasks, poses, strict=True):
                task.set_target(mink.SE3.from_matrix(T))
            for _ in range(steps):
                begin, raised = time.process_time(), False
                try:
                    v = mink.solve_ik(at, [*self.tasks, self.posture], dt, solver='daqp',
                                      damping=DAMPING, limits=self.limits)
                    at.integrate_inplace(v, dt)
                except mink.NoSolutionFound:
                    raised = True
                yield at.q[self.joints].copy(), time.process_time() - begin, raised


def _for_mujoco(urdf: Path) -> str:
    """Return the URDF with what MuJoCo's reader needs to keep its links and bear its inertias."""
    tree = ElementTree.parse(urdf).getroot()
    ElementTree.SubElement(ElementTree.SubElement(tree, 'mujoco'), 'compiler', {
        'fusestatic': 'false', 'strippath': 'false', 'discardvisual': 'true',
        'balanceinertia': 'true', 'boundmass': '1e-3', 'boundinertia': '1e-6'})
    return ElementTree.tostring(tree, encoding='unicode')
