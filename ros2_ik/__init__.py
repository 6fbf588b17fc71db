"""Inverse kinematics for any URDF robot."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # msg and srv are generated into the installed copy
__version__ = '0.2.0'
