"""mink as a solver for velocity_ik.py."""

from pathlib import Path
from xml.etree import ElementTree

import mink
import mujoco
import numpy as np

DAMPING = 1e-12    # Levenberg-Marquardt damping of all joints in the QP


class Mink:
    """A robot from a URDF file, with barriers of `margin` [m] between `pairs` of links."""

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

    def start(self, start: np.ndarray) -> None:
        """Set the joint values (n,), which are also the posture task's target."""
        q = self.configuration.q.copy()
        q[self.joints] = start
        self.configuration.update(q)
        self.posture.set_target(q)

    def set_targets(self, poses: list[np.ndarray]) -> None:
        for task, T in zip(self.tasks, poses, strict=True):
            task.set_target(mink.SE3.from_matrix(T))

    def step(self, dt: float) -> tuple[np.ndarray, bool]:
        """Return joint values (n,) after a step, and whether an exception was raised."""
        at, raised = self.configuration, False
        try:
            v = mink.solve_ik(at, [*self.tasks, self.posture], dt, solver='daqp',
                              damping=DAMPING, limits=self.limits)
            at.integrate_inplace(v, dt)
        except mink.NoSolutionFound:
            raised = True
        return at.q[self.joints].copy(), raised


def _for_mujoco(urdf: Path) -> str:
    """Return the URDF with MuJoCo's options to keep fixed links and to accept all inertias."""
    tree = ElementTree.parse(urdf).getroot()
    ElementTree.SubElement(ElementTree.SubElement(tree, 'mujoco'), 'compiler', {
        'fusestatic': 'false', 'strippath': 'false', 'discardvisual': 'true',
        'balanceinertia': 'true', 'boundmass': '1e-3', 'boundinertia': '1e-6'})
    return ElementTree.tostring(tree, encoding='unicode')
