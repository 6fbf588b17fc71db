"""Starts a mock robot and the node that answers for it, and ends both: tools/demo."""

import argparse
import os
import signal
import sys

from ros2_ik.demo.demo import Demo, Ended, Failed


def main() -> int:
    """Run the demo; returns the exit code, 0 after Ctrl-C or SIGTERM."""
    demo = Demo()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # a flag, for an exception out of a handler can get lost in a destructor
        signal.signal(number, lambda *_: demo.stop())
    args = _arguments()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    try:
        return demo.run(args.robot, args.scene, args.once, args.servo, args.view)
    except Ended:
        return 0
    except ModuleNotFoundError as error:
        if error.name != 'viser':
            raise
        print('ros2_ik: --view needs viser: tools/run pip install viser', file=sys.stderr)
        return 2
    except Failed as failure:
        print(f'ros2_ik: {failure}', file=sys.stderr)
        return failure.code
    finally:
        demo.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='tools/demo', description=__doc__, allow_abbrev=False)
    parser.add_argument('--robot', default='panda', metavar='NAME',
                        help='shipped robot (default: %(default)s)')
    parser.add_argument('--scene', default='', metavar='NAME|PATH',
                        help='what stands round the robot: a shipped scene (table, shelf, bin, '
                             'floor) or a YAML file (default: nothing)')
    parser.add_argument('--once', action='store_true',
                        help='ask a question (with a scene a second one, inside an object), print '
                             'the answer, exit 0 if it holds')
    parser.add_argument('--servo', action='store_true', help='move the arm by keys')
    parser.add_argument('--view', action='store_true',
                        help='drag goals on a page in a browser, and send the arm there')
    return parser.parse_args()


if __name__ == '__main__':
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)    # the interpreter's end can hang in DDS, see run_as_process of the command
