"""URDF texts of small robots, each with a special property."""

from math import pi
import re


def joint(name, kind, parent, child, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=None, limits=None,
          velocity=1.0, mimic=None):
    """Return a <joint>; limits are (lower, upper), mimic (leader, multiplier, offset)."""
    parts = [f'<parent link="{parent}"/><child link="{child}"/>',
             f'<origin xyz="{_numbers(xyz)}" rpy="{_numbers(rpy)}"/>']
    if axis is not None:
        parts.append(f'<axis xyz="{_numbers(axis)}"/>')
    if limits is not None:
        parts.append(f'<limit lower="{limits[0]!r}" upper="{limits[1]!r}" '
                     f'velocity="{velocity!r}" effort="1"/>')
    if mimic is not None:
        parts.append(f'<mimic joint="{mimic[0]}" multiplier="{mimic[1]!r}" '
                     f'offset="{mimic[2]!r}"/>')
    return f'<joint name="{name}" type="{kind}">{"".join(parts)}</joint>'


def urdf(*joints, name='small'):
    """Return a URDF; the joints name its links, each with a different mass."""
    links = dict.fromkeys(link for text in joints for link in re.findall(r'link="(.*?)"', text))
    bodies = ''.join(
        f'<link name="{link}"><inertial><origin xyz="0.0{i} 0.1 -0.0{i}"/><mass value="{i}.5"/>'
        f'<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for i, link in enumerate(links, 1))
    return f'<robot name="{name}">{bodies}{"".join(joints)}</robot>'


def _numbers(values):
    return ' '.join(repr(value) for value in values)


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
WIDE, HALF = (-pi, pi), (-2.0, 2.0)    # joint limits [rad]

ONE_JOINT = urdf(joint('turn', 'revolute', 'base', 'arm', axis=Z, limits=(-1.5, 2.5)),
                 joint('end', 'fixed', 'arm', 'tip', xyz=(0.7, 0, 0.1)))
PLANAR_2R = urdf(joint('shoulder', 'revolute', 'base', 'upper', axis=Z, limits=WIDE),
                 joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.5, 0, 0), axis=Z,
                       limits=(-2.8, 2.8)),
                 joint('end', 'fixed', 'lower', 'tip', xyz=(0.4, 0, 0)))
SCARA = urdf(joint('shoulder', 'revolute', 'base', 'upper', xyz=(0, 0, 0.3), axis=Z, limits=HALF),
             joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.4, 0, 0), axis=Z,
                   limits=(-2.4, 2.4)),
             joint('lift', 'prismatic', 'lower', 'slide', xyz=(0.3, 0, 0), axis=Z,
                   limits=(-0.2, 0.05)),
             joint('wrist', 'revolute', 'slide', 'tip', axis=Z, limits=(-2 * pi, 2 * pi)))
GANTRY = urdf(joint('x', 'prismatic', 'base', 'a', axis=X, limits=(-1.0, 1.0)),
              joint('y', 'prismatic', 'a', 'b', axis=Y, limits=(0.5, 1.5)),
              joint('z', 'prismatic', 'b', 'tip', axis=(0, 0, -2), limits=(-0.5, 0.0)))
TURNTABLE = urdf(   # continuous joints, each with a mimic joint: a continuous and a prismatic one
    joint('table', 'continuous', 'base', 'plate', axis=Z),
    joint('gear', 'continuous', 'plate', 'wheel', xyz=(0.3, 0, 0.1), axis=X,
          mimic=('table', -2.0, 0.4)),
    joint('pole', 'continuous', 'wheel', 'mast', xyz=(0, 0, 0.4), axis=Y),
    joint('rack', 'prismatic', 'mast', 'tip', xyz=(0.2, 0, 0), axis=X, mimic=('pole', 0.1, 0.05)))
SWIVEL = urdf(joint('table', 'continuous', 'base', 'plate', axis=Z),
              joint('pole', 'continuous', 'plate', 'tip', xyz=(0.3, 0, 0.4), axis=Y))
MIMIC_CHAIN = urdf(   # b and c mimic a; c has the narrowest limits
    joint('a', 'revolute', 'base', 'la', xyz=(0, 0, 0.1), axis=Y, limits=HALF),
    joint('b', 'revolute', 'la', 'lb', xyz=(0.2, 0, 0), axis=Y, limits=HALF,
          mimic=('a', -0.5, 0.1)),
    joint('c', 'revolute', 'lb', 'lc', xyz=(0.2, 0, 0), axis=Z, limits=(-0.3, 0.6),
          mimic=('a', -1.0, 0.1)),
    joint('d', 'revolute', 'lc', 'ld', xyz=(0.2, 0, 0), axis=X, limits=HALF),
    joint('end', 'fixed', 'ld', 'tip', xyz=(0.1, 0.1, 0)))
FINGERS = urdf(   # the mimic joint is on another branch than its leader, and sorts before it
    joint('wrist', 'revolute', 'base', 'palm', axis=Z, limits=HALF),
    joint('left_mount', 'fixed', 'palm', 'left_side', xyz=(0, 0.1, 0)),
    joint('right_mount', 'fixed', 'palm', 'right_side', xyz=(0, -0.1, 0)),
    joint('a_follower', 'prismatic', 'left_side', 'left_tip', axis=Y, limits=(0.0, 0.04),
          mimic=('z_leader', 1.0, 0.0)),
    joint('z_leader', 'prismatic', 'right_side', 'right_tip', axis=(0, -1, 0), limits=(0.0, 0.04)))
CRANK = urdf(   # the mimic joint is an ancestor of its leader
    joint('first', 'revolute', 'base', 'rod', axis=Y, limits=HALF, mimic=('last', -1.0, 0.2)),
    joint('last', 'revolute', 'rod', 'arm', xyz=(0.3, 0, 0), axis=Y, limits=HALF),
    joint('end', 'fixed', 'arm', 'tip', xyz=(0.3, 0, 0)))
NESTED = urdf(   # planar and floating joints within the tree
    joint('lift', 'prismatic', 'base', 'floor', axis=Z, limits=(-0.5, 0.5)),
    joint('drive', 'planar', 'floor', 'cart', xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0, 0), axis=Z),
    joint('arm', 'revolute', 'cart', 'boom', xyz=(0, 0, 0.5), rpy=(0, 0.3, 0), axis=(0, 0.6, 0.8),
          limits=HALF),
    joint('fly', 'floating', 'boom', 'drone', xyz=(0.2, 0, 0), rpy=(0.1, 0.2, 0.3)),
    joint('hook', 'continuous', 'drone', 'tip', xyz=(0, 0.1, 0), axis=X))
ZERO_LINKS = urdf(   # three intersecting axes each in shoulder and wrist: links of length 0
    joint('s1', 'revolute', 'base', 'b1', axis=Z, limits=WIDE),
    joint('s2', 'revolute', 'b1', 'b2', axis=Y, limits=HALF),
    joint('s3', 'revolute', 'b2', 'b3', axis=Z, limits=WIDE),
    joint('elbow', 'revolute', 'b3', 'b4', xyz=(0, 0, 0.4), axis=Y, limits=(-2.5, 0.0)),
    joint('w1', 'revolute', 'b4', 'b5', xyz=(0, 0, 0.35), axis=Z, limits=WIDE),
    joint('w2', 'revolute', 'b5', 'b6', axis=Y, limits=HALF),
    joint('w3', 'revolute', 'b6', 'tip', axis=Z, limits=WIDE))
NO_LIMITS = urdf(   # revolute and prismatic joints whose <limit> is absent
    joint('yaw', 'revolute', 'base', 'b1', xyz=(0, 0, 0.3), axis=Z),
    joint('pitch', 'revolute', 'b1', 'b2', rpy=(0.2, 0, 0), axis=Y),
    joint('slide', 'prismatic', 'b2', 'b3', xyz=(0.3, 0, 0), axis=X),
    joint('bend', 'revolute', 'b3', 'b4', xyz=(0.3, 0, 0), rpy=(0, 0, -0.3), axis=Y),
    joint('roll', 'revolute', 'b4', 'b5', xyz=(0.2, 0, 0.05), axis=X),
    joint('nod', 'revolute', 'b5', 'tip', xyz=(0.1, 0, 0), axis=Y))
TWO_ARMS = urdf(
    joint('torso', 'revolute', 'base', 'chest', xyz=(0, 0, 0.5), axis=Z, limits=HALF),
    *(text for side, y in (('left', 0.2), ('right', -0.2)) for text in (
        joint(f'{side}_1', 'revolute', 'chest', f'{side}_a', xyz=(0, y, 0.2), axis=Z, limits=HALF),
        joint(f'{side}_2', 'revolute', f'{side}_a', f'{side}_b', axis=Y, limits=HALF),
        joint(f'{side}_3', 'revolute', f'{side}_b', f'{side}_c', xyz=(0.3, 0, 0), axis=Y,
              limits=(-2.5, 2.5)),
        joint(f'{side}_4', 'revolute', f'{side}_c', f'{side}_d', xyz=(0.25, 0, 0), axis=X,
              limits=WIDE),
        joint(f'{side}_5', 'revolute', f'{side}_d', f'{side}_e', axis=Y, limits=HALF),
        joint(f'{side}_6', 'revolute', f'{side}_e', f'{side}_hand', xyz=(0.1, 0, 0), axis=X,
              limits=WIDE))))
ALL_FIXED = urdf(joint('weld', 'fixed', 'base', 'post', xyz=(0, 0, 1), rpy=(0, 0, 0.5)),
                 joint('weld2', 'fixed', 'post', 'tip', xyz=(0.2, 0, 0)))
ONE_LINK = '<robot name="small"><link name="body"/></robot>'

SMALL = {name.lower(): text for name, text in globals().items()
         if name.isupper() and isinstance(text, str)}
