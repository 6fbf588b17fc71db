"""The folder of example-robot-data, found without the library."""

import os
from pathlib import Path
import sys


def data_folder():
    """Return the folder of the robots as PyPI (cmeel) or ROS installs it."""
    prefixes = [Path(entry or '.') / 'cmeel.prefix' for entry in sys.path]
    prefixes += [Path(entry) for entry in os.environ.get('AMENT_PREFIX_PATH', '').split(':')
                 if entry]
    for prefix in [*prefixes, Path(sys.prefix), Path('/usr')]:
        folder = prefix / 'share/example-robot-data/robots'
        if folder.is_dir():
            return folder
    raise FileNotFoundError('example-robot-data is not installed')
