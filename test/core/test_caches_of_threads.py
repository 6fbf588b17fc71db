"""What is kept for each robot, while many threads use more robots than are kept."""

import os
import signal
import sys
from threading import Barrier, Event, Thread

import numpy as np
import pytest

from ros2_ik.core import Robot
from ros2_ik.core.collision.checked_pairs import pairs_to_check
from ros2_ik.core.collision.collision_geometry import own_geometries
from ros2_ik.core.collision.not_checked import own_collisions
from ros2_ik.core.collision.self_pairs import self_pairs
from ros2_ik.core.lru_cache import LRUCache
from ros2_ik.core.meshes import cache
from ros2_ik.core.scene import Scene
from ros2_ik.core.scene.robot_geometry import robot_geometry

THREADS, ROBOTS = 8, 12
LINK = '<link name="{0}"><collision><geometry><sphere radius="{1}"/></geometry></collision></link>'


@pytest.fixture
def many_switches():
    """Switch between threads as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def robot(number):
    return Robot.from_urdf(
        f'<robot name="r{number}">{LINK.format("a", 0.1 + 0.01 * number)}'
        f'{LINK.format("b", 0.1)}<joint name="j" type="revolute"><parent link="a"/>'
        '<child link="b"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>')


def in_threads(work):
    """Run work(random generator) in threads that begin together; return what they raised."""
    raised, start = [], Barrier(THREADS)

    def run(seed):
        start.wait()
        try:
            work(np.random.default_rng(seed))
        except Exception as error:
            raised.append(repr(error))

    threads = [Thread(target=run, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.parametrize(('what', 'repeats'), [
    ('geometry', 400), ('self pairs', 400), ('own collisions', 100), ('checked pairs', 300)])
def test_each_robot_gets_its_own(what, repeats, many_switches):
    robots = [robot(number) for number in range(ROBOTS)]
    scenes = [Scene(each) for each in robots]

    def ask(generator):
        for number in generator.integers(0, ROBOTS, repeats).tolist():
            each = robots[number]
            if what == 'self pairs':
                assert self_pairs(each).allowed.keys() == {('a', 'b')}
                continue
            if what == 'own collisions':
                own = own_collisions(each)
                assert own.checker is None and own.not_checked == own_collisions(each).not_checked
                continue
            geometry = robot_geometry(each)
            assert geometry.bodies[0].shape.radius == 0.1 + 0.01 * number
            if what == 'checked pairs':
                items = own_geometries(each, geometry)
                assert not pairs_to_check(each, scenes[number], geometry, items).any()

    assert not in_threads(ask)


def test_arrays_are_kept_by_many_threads(many_switches):
    def ask(generator):
        for number in generator.integers(0, 200, 1000).tolist():
            found = cache.cached('threads', str(number), lambda number=number: {
                'x': np.full(128, number)}, disk=False)
            assert (found['x'] == number).all()

    assert not in_threads(ask)
    cache._memory.clear()


@pytest.mark.filterwarnings('ignore:.*fork:DeprecationWarning')    # from Python 3.12 on
def test_processes_forked_while_threads_use_what_is_kept(many_switches):
    """None waits for a lock whose thread it does not have."""
    kept, done = LRUCache(), Event()

    def use():
        while not done.is_set():
            kept.get(0, object)
            cache.cached('forks', 'x', lambda: {'x': np.zeros(1)}, disk=False)

    threads = [Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        children = []
        for _ in range(50):
            children.append(os.fork())
            if not children[-1]:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(5)      # ends it where it waits
                kept.get(1, object)
                cache._memory.clear()
                os._exit(0)
        assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_the_one_not_used_for_longest_goes_first():
    kept, made = LRUCache(2), []
    for key in 'abacab':
        assert kept.get(key, lambda key=key: (made.append(key), key)[1]) == key
    assert made == list('abcb')
