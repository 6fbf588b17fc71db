"""A torso that turns about z, with an arm of three joints about y."""

from small_robots import joint, urdf

from ros2_ik.core import Robot

URDF = urdf(
    joint('turn', 'revolute', 'base', 'torso', axis=(0, 0, 1), limits=(-3.0, 3.0)),
    joint('shoulder', 'revolute', 'torso', 'upper', (0, 0, 0.4), axis=(0, 1, 0),
          limits=(-2.0, 2.0)),
    joint('elbow', 'revolute', 'upper', 'fore', (0.3, 0, 0), axis=(0, 1, 0), limits=(-2.5, 2.5)),
    joint('wrist', 'continuous', 'fore', 'hand', (0.25, 0, 0), axis=(0, 1, 0)), name='small_arm')

SRDF = """<robot name="small_arm">
  <group name="arm"><chain base_link="torso" tip_link="hand"/></group>
</robot>"""

ARM = {'shoulder': 0.4, 'elbow': 0.9, 'wrist': -0.5}
MISSING = 'package://nowhere_at_all/hand.stl'


def small_arm(suffix: str = '', root_joint: str = 'fixed') -> Robot:
    """Return the robot; `suffix` is appended to its joint names."""
    text = URDF
    for name in (*ARM, 'turn'):
        text = text.replace(f'<joint name="{name}"', f'<joint name="{name}{suffix}"')
    return Robot.from_urdf(text, srdf=SRDF, root_joint=root_joint)


def arm_without_mesh() -> Robot:
    """Return the robot with a box on link `fore` and a missing mesh on link `hand`."""
    def collision(shape: str) -> str:
        return f'<collision><geometry>{shape}</geometry></collision>'
    text = URDF
    for link, shape in (('hand', f'<mesh filename="{MISSING}"/>'),
                        ('fore', '<box size=".05 .05 .05"/>')):
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{collision(shape)}')
    return Robot.from_urdf(text, srdf=SRDF)
