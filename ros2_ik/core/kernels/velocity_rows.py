"""Row indices of the tables that describe a step of velocity IK to compiled code."""

from collections import namedtuple

from ros2_ik.core.kernels.cache import add_source

add_source(lambda: None)    # this file: its numbers are compiled into the loops

# kinds of rows; 0, 1, 2 ... are soft tasks of that priority, 0 the most important
UNUSED, HARD, BOUNDED, SCALED = -1, -2, -3, -4
# table `rows` (NUMBERS, m + k), a column for each row of a function, then for each pair of bodies;
# the value of a pair is the distance
(KIND, VALUE, TARGET, RATE,     # kind; value, target [units of f]; target rate [units of f/s]
 SHARE, WEIGHT, DAMPING, LIMB,  # part of the error that a step corrects; weight; damping; limb
 LOWER, UPPER, SLOWEST, FASTEST,    # bounds of value [units of f] and of rate [units of f/s]
 PUSH,                          # largest rate back to a violated bound [units of f/s]
 APPROACH,                      # rate at which the other side of a pair approaches [m/s]
 CURVED) = range(15)            # deviation of the value from its linearization
NUMBERS = 15
# table `box` (COLUMN_NUMBERS, n), a column for each joint: position limits [rad, m], velocity and
# acceleration limit, position, least and largest step [rad, m], velocity of the last step, damping
# of oscillations
LOW, HIGH, SPEED, ACCELERATION, POSITION, LEAST, MOST, BEFORE, SWING = range(9)
COLUMN_NUMBERS = 9
# table `gaps` (k, NUMBERS + n), a row for each pair: the numbers of its column of `rows`, then the
# gradient of the distance
# last elements of `missed`, after those of rows and pairs
LIMITS = ('acceleration limits', 'velocity limits', 'position limits')

# the arguments of a step: `rows` and their Jacobian (m + k, n), limbs (levels + 1, n), box,
# options, inertia
Problem = namedtuple('Problem', ('rows', 'J', 'limbs', 'box', 'options', 'inertia'))
