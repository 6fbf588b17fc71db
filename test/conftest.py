"""What all tests need."""

import signal

# Who starts the tests in the background has Ctrl-C ignored, and processes inherit that: those
# that tests interrupt would never notice.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
