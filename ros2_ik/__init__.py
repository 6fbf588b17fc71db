"""Inverse kinematics for any URDF robot."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # only the installed copy has msg, srv, action
__version__ = '0.2.0'
