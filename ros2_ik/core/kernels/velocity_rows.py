"""Row indices of the tables that describe a step of velocity IK to compiled code."""

from collections import namedtuple

from ros2_ik.core.kernels.cache import add_source

add_source(lambda: None)    # this file: its numbers are compiled into the loops

# kinds of rows; a kind of 0, 1, 2 ... is a soft task with this priority (0: most important)
(UNUSED,                        # row that is ignored
 HARD,                          # task that takes precedence over all soft tasks
 BOUNDED,                       # row with bounds of its value and rate
 SCALED) = -1, -2, -3, -4       # task that active limits slow down, but do not redirect
# table `rows` (NUMBERS, m + k), with a column for each of m rows of functions, then for each of k
# pairs of bodies, whose value is their distance
(KIND, VALUE, TARGET, RATE,     # kind; value, target [units of f]; target rate [units of f/s]
 GAIN, WEIGHT, DAMPING, LIMB,   # part of the error that a step corrects; weight; damping; limb
 LOWER, UPPER, MIN_RATE, MAX_RATE,  # bounds of value [units of f] and of rate [units of f/s]
 PUSH,                          # largest rate back to a violated bound [units of f/s]
 APPROACH,                      # rate at which the other side of a pair approaches [m/s]
 CURVED) = range(15)            # deviation of the value from its linearization
# table `gaps` (k, NUMBERS + n), a row per pair: its column of `rows`, then the distance's gradient
NUMBERS = 15
# table `joints` (COLUMN_NUMBERS, n), with a column for each joint
(LOW, HIGH, SPEED, ACCELERATION,    # position limits [rad, m]; velocity and acceleration limit
 POSITION, MIN_STEP, MAX_STEP,      # position, least and largest step [rad, m]
 LAST_VELOCITY, OSCILLATION_DAMPING) = range(9)     # velocity of the last step; damping
COLUMN_NUMBERS = 9

# limits whose excess is in the last three elements of `violations`, after those of rows and pairs
LIMITS = ('acceleration limits', 'velocity limits', 'position limits')

# arguments of a step: J (m + k, n) is the Jacobian of `rows`; for the others see `velocity_step`
Problem = namedtuple('Problem', ('rows', 'J', 'limbs', 'joints', 'options', 'inertia'))
