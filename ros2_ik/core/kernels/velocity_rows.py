"""What the rows and columns of a step of velocity IK are, by their numbers."""

# kinds of rows; 0, 1, 2 ... are the priorities of tasks, the first one first
UNUSED, HARD, BOUNDED, SCALED = -1, -2, -3, -4
# numbers of a row
(TARGET, RATE, SHARE, WEIGHT, DAMPING, LOWER, UPPER, SLOWEST, FASTEST, PUSH, LIMB, CARE,
 WITHIN) = range(13)
NUMBERS = 13
# numbers of a column
LOW, HIGH, SPEED, ACCELERATION, BEFORE, BEND, SAFE, SWING = range(8)
