"""The node; between SIGUSR1 and SIGUSR2 it logs the source files that ComputeIK requests use."""

import json
from pathlib import Path
import signal
import sys

import ros2_ik
from ros2_ik.node import main

ROOT = str(Path(ros2_ik.__file__).parent)
TRACED_FOLDERS = f'{ROOT}/node/', f'{ROOT}/messages/'
ENDPOINT = f'{ROOT}/node/endpoints/endpoint.py'   # a request enters here, each time it resumes
MARK = 'passes: '


class Trace:
    """Records the files that a request uses until its coroutine returns."""

    def __init__(self):
        self.request, self.inside, self.files = None, False, []

    def call(self, frame, event, argument):
        """Trace a call of a function."""
        name = frame.f_code.co_filename
        if not self.inside and name == ENDPOINT and frame.f_code.co_name == 'answer':
            self.inside = True
            if frame is not self.request and 'ComputeIK' in type(
                    frame.f_locals['response']).__name__:
                self.request, self.files = frame, []
            self._add(name)
            return self.outermost
        if self.inside and name.startswith(TRACED_FOLDERS):
            self._add(name)
        return None

    def outermost(self, frame, event, argument):
        """Trace the outermost function of a request, which returns or is suspended."""
        if event == 'return':
            self.inside = False
            if frame is self.request:
                print(MARK + json.dumps(self.files), file=sys.stderr, flush=True)
        return self.outermost

    def _add(self, name):
        name = name.removeprefix(f'{ROOT}/')
        if name not in self.files:
            self.files.append(name)


if __name__ == '__main__':
    signal.signal(signal.SIGUSR1, lambda *_: sys.settrace(Trace().call))
    signal.signal(signal.SIGUSR2, lambda *_: sys.settrace(None))
    main()
