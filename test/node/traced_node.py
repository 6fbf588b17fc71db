"""The node; from SIGUSR1 to SIGUSR2 it prints which of its files ComputeIK requests pass."""

import json
from pathlib import Path
import signal
import sys

import ros2_ik
from ros2_ik.node import main

ROOT = str(Path(ros2_ik.__file__).parent)
ROOMS = f'{ROOT}/node/', f'{ROOT}/messages/'
FIRST = f'{ROOT}/node/endpoints/endpoint.py'   # a request enters there, each time it goes on
MARK = 'passes: '


class Trace:
    """Puts down which files a request passes; it is over when its coroutine returns."""

    def __init__(self):
        self.request, self.inside, self.passed = None, False, []

    def call(self, frame, event, argument):
        """See a function being called."""
        name = frame.f_code.co_filename
        if not self.inside and name == FIRST and frame.f_code.co_name == 'answer':
            self.inside = True
            if frame is not self.request and 'ComputeIK' in type(
                    frame.f_locals['response']).__name__:
                self.request, self.passed = frame, []
            self._put(name)
            return self.first
        if self.inside and name.startswith(ROOMS):
            self._put(name)
        return None

    def first(self, frame, event, argument):
        """See the outermost function of a request return, or wait."""
        if event == 'return':
            self.inside = False
            if frame is self.request:
                print(MARK + json.dumps(self.passed), file=sys.stderr, flush=True)
        return self.first

    def _put(self, name):
        name = name.removeprefix(f'{ROOT}/')
        if name not in self.passed:
            self.passed.append(name)


if __name__ == '__main__':
    signal.signal(signal.SIGUSR1, lambda *_: sys.settrace(Trace().call))
    signal.signal(signal.SIGUSR2, lambda *_: sys.settrace(None))
    main()
