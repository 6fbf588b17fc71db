"""Row indices of the tables that describe a step of velocity IK to compiled code."""

from collections import namedtuple

from ros2_ik.core.kernels.cache import add_source

add_source(lambda: None)    # this file: its numbers are compiled into the loops

# kinds of rows; a row of kind k >= 0 is a soft task of priority k (0: most important)
(UNUSED,                        # row that is ignored
 HARD,                          # task that takes precedence over all soft tasks
 BOUNDED,                       # row with bounds of its value and rate
 SCALED) = -1, -2, -3, -4       # task that active limits slow down, but do not redirect
# table `rows` (NUMBERS, m + k): a column for each of the m rows of the functions f, then one for
# each of k pairs of bodies, where f is the distance of the pair
(KIND,                          # kind, see above
 VALUE,                         # value [units of f]
 TARGET,                        # target of the value [units of f]
 RATE,                          # target of the rate [units of f/s]
 GAIN,                          # fraction of an error corrected, or of a gap closed, per step
 WEIGHT,                        # weight in the cost
 DAMPING,                       # damping of the limb: DAMPING * WEIGHT * (task's step)^2
 LIMB,                          # number of the limb that the task moves
 LOWER,                         # lower bound of the value [units of f]
 UPPER,                         # upper bound of the value [units of f]
 MIN_RATE,                      # lower bound of the rate [units of f/s]
 MAX_RATE,                      # upper bound of the rate [units of f/s]
 PUSH,                          # largest rate back to a violated bound [units of f/s]
 APPROACH,                      # rate at which moving objects close the gap of a pair [m/s]
 CURVED) = range(15)            # value after the step minus its linearization [units of f]
# table `gaps` (k, NUMBERS + n): one row per pair with the numbers above, then the gradient of its
# distance
NUMBERS = 15
# table `joints` (COLUMN_NUMBERS, n), with a column for each joint
(LOW,                           # lower position limit [rad, m]
 HIGH,                          # upper position limit [rad, m]
 SPEED,                         # velocity limit [rad/s, m/s]
 ACCELERATION,                  # acceleration limit [rad/s^2, m/s^2]; 0 for a driven joint
 POSITION,                      # position [rad, m]
 MIN_STEP,                      # least step [rad, m]
 MAX_STEP,                      # largest step [rad, m]
 LAST_VELOCITY,                 # velocity of the last step [rad/s, m/s]
 OSCILLATION_DAMPING) = range(9)    # added to the scaled H[j, j] against oscillations
COLUMN_NUMBERS = 9

# the last three elements of `violations` are the largest excesses over these limits, in order
LIMITS = ('acceleration limits', 'velocity limits', 'position limits')

# arguments of a step: J (m + k, n) is the Jacobian of `rows`; for the others see `velocity_step`
Problem = namedtuple('Problem', ('rows', 'J', 'limbs', 'joints', 'options', 'inertia'))
