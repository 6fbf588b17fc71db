"""A torso that turns about z, with an arm of three joints about y."""

from ros2_ik.core import Robot

URDF = """<robot name="small_arm">
  <link name="base"/> <link name="torso"/> <link name="upper"/> <link name="fore"/>
  <link name="hand"/>
  <joint name="turn" type="revolute">
    <parent link="base"/> <child link="torso"/> <axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="1" effort="1"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="torso"/> <child link="upper"/> <axis xyz="0 1 0"/> <origin xyz="0 0 0.4"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/> <child link="fore"/> <axis xyz="0 1 0"/> <origin xyz="0.3 0 0"/>
    <limit lower="-2.5" upper="2.5" velocity="1" effort="1"/>
  </joint>
  <joint name="wrist" type="continuous">
    <parent link="fore"/> <child link="hand"/> <axis xyz="0 1 0"/> <origin xyz="0.25 0 0"/>
  </joint>
</robot>"""

SRDF = """<robot name="small_arm">
  <group name="arm"><chain base_link="torso" tip_link="hand"/></group>
</robot>"""

ARM = {'shoulder': 0.4, 'elbow': 0.9, 'wrist': -0.5}


MISSING = 'package://nowhere_at_all/hand.stl'


def small_arm(suffix: str = '', root_joint: str = 'fixed') -> Robot:
    """Return the robot; `suffix` renames its joints."""
    urdf, srdf = URDF, SRDF
    for joint in (*ARM, 'turn'):
        urdf = urdf.replace(f'<joint name="{joint}"', f'<joint name="{joint}{suffix}"')
    return Robot.from_urdf(urdf, srdf=srdf, root_joint=root_joint)


def arm_without_mesh() -> Robot:
    """Return the robot with a box on `fore` and a missing mesh on `hand`."""
    def collision(shape: str) -> str:
        return f'<collision><geometry>{shape}</geometry></collision>'
    urdf = URDF
    for link, shape in (('hand', f'<mesh filename="{MISSING}"/>'),
                        ('fore', '<box size=".05 .05 .05"/>')):
        urdf = urdf.replace(f'<link name="{link}"/>',
                            f'<link name="{link}">{collision(shape)}</link>')
    return Robot.from_urdf(urdf, srdf=SRDF)
