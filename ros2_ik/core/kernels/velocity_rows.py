"""Rows of the tables that describe a step of velocity IK to compiled code."""

from collections import namedtuple

from ros2_ik.core.kernels.cache import add_source

add_source(lambda: None)    # this file: loops are compiled with its numbers

# kinds of rows; 0, 1, 2 ... are the priorities of tasks, the first one first
UNUSED, HARD, BOUNDED, SCALED = -1, -2, -3, -4
# numbers of a row (NUMBERS, m + k): `rows` of functions, after them those of pairs
(KIND, VALUE, TARGET, RATE, SHARE, WEIGHT, DAMPING, LIMB, LOWER, UPPER, SLOWEST, FASTEST, PUSH,
 APPROACH, CURVED) = range(15)
NUMBERS = 15
# numbers of a joint (COLUMN_NUMBERS, n): limits, position, how far a step may go, the velocity
# of the last step, and the damping of what swings
LOW, HIGH, SPEED, ACCELERATION, POSITION, LEAST, MOST, BEFORE, SWING = range(9)
COLUMN_NUMBERS = 9
# numbers after the gradient of a pair: distance [m], the one to keep [m], gain, speed at which
# it is widened [m/s], speed at which the other side approaches [m/s]
DISTANCE, MARGIN, GAP_GAIN, GAP_PUSH, GAP_SPEED = range(-5, 0)
GAP_NUMBERS = 5
# what is missed after the rows of functions and pairs
LIMITS = ('acceleration limits', 'velocity limits', 'position limits')

# a step: rows and their Jacobian, limbs (levels + 1, n), joints, options, inertia
Problem = namedtuple('Problem', ('rows', 'J', 'limbs', 'box', 'options', 'inertia'))
