"""The launch files compile, and where launch is installed they describe what they should."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import py_compile

import pytest

LAUNCH = Path(__file__).parents[2] / 'launch'
ARGUMENTS = {'ik.launch.py': {'robot', 'config', 'namespace'},
             'demo.launch.py': {'robot', 'config', 'namespace'}}


@pytest.mark.parametrize('name', sorted(ARGUMENTS))
def test_compiles(name, tmp_path):
    py_compile.compile(str(LAUNCH / name), str(tmp_path / 'compiled'), doraise=True)


def test_there_are_no_others():
    assert {path.name for path in LAUNCH.iterdir() if path.is_file()} == set(ARGUMENTS)


def load(name):
    """Import a launch file."""
    pytest.importorskip('launch_ros')
    spec = spec_from_file_location(name.partition('.')[0] + '_launch', LAUNCH / name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('name', sorted(ARGUMENTS))
def test_declares_its_arguments_with_a_description_and_a_default(name):
    arguments = load(name).generate_launch_description().get_launch_arguments()
    own = {argument.name: argument for argument in arguments}
    assert set(own) == ARGUMENTS[name]
    assert all(argument.description and argument.default_value is not None
               for argument in own.values())


@pytest.mark.parametrize('values, reason', [
    ({'robot': 'pandaa', 'config': ''}, "did you mean 'panda'"),
    ({'robot': '', 'config': '/nowhere.yaml'}, 'there is no file /nowhere.yaml'),
])
def test_wrong_arguments_are_refused_in_words(values, reason):
    module = load('ik.launch.py')
    from launch import LaunchContext
    context = LaunchContext()
    context.launch_configurations.update(values)
    with pytest.raises(Exception, match=reason):
        module.make_node(context)
