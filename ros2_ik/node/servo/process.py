"""The servo's process as the node sees it."""

import multiprocessing
from queue import SimpleQueue
import threading
from typing import Any

from ros2_ik.node.process import ensure_fork_server
from ros2_ik.node.servo.messages import AskFrame, State


class ServoProcess:
    """
    A process, and its pipe; sending never waits for it: a thread does that.

    It is alive as long as its end of the pipe is open, and comes to rest and ends when this one
    is closed.
    """

    def __init__(self, names: Any) -> None:
        ensure_fork_server()
        context: Any = multiprocessing.get_context('forkserver')
        self._connection, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, names), daemon=True)
        process.start()
        there.close()
        self._outbox = SimpleQueue[Any]()
        threading.Thread(target=self._send_all, name='to the servo', daemon=True).start()

    def send(self, message: Any) -> None:
        """Send, unless it has died."""
        self._outbox.put(message)

    def _send_all(self) -> None:
        message = self._outbox.get()
        try:
            while message is not None:
                self._connection.send(message)
                message = self._outbox.get()
        except OSError:     # it has died
            while self._outbox.get() is not None:
                continue

    def news(self) -> list[AskFrame | State]:
        """Return what it has said since last asked; raises EOFError when it has died."""
        said = list[AskFrame | State]()
        try:
            while self._connection.poll():
                said.append(self._connection.recv())
        except OSError:
            raise EOFError from None
        return said

    def close(self) -> None:
        """Have it end."""
        self._outbox.put(None)
        self._connection.close()


def _serve(connection: Any, names: Any) -> None:
    # late: in the fork server there is no rclpy
    from ros2_ik.node.servo.loop import serve_servo
    serve_servo(connection, names)
