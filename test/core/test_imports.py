"""Importing the library is quick: SciPy's packages are loaded when they are used."""

import ast
import subprocess
import sys


def test_no_package_of_scipy_is_loaded_with_the_library():
    code = "import sys, ros2_ik.core; print([n for n in sys.modules if n.startswith('scipy.')])"
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    found = ast.literal_eval(done.stdout)
    assert not {'scipy.spatial', 'scipy.optimize', 'scipy.sparse'} & set(found), found
