"""A worker process of the driver: requests with deadlines, and a guaranteed end."""

import json
import os
import queue
import signal
import subprocess
import threading


class WorkerError(Exception):
    pass


class Process:
    def __init__(self, name, command, env, log):
        self.name, self.log = name, log  # its stderr
        self._errors = open(log, "ab")
        # Its own session, so that killing the group also ends a compiler it may be running.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env={**os.environ, **env}, cwd=os.path.dirname(os.path.abspath(__file__)),
            start_new_session=True)
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def ask(self, request, timeout):
        """Sends a request and returns the reply. Raises WorkerError if the worker is late, dead or refuses."""
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise WorkerError(f"no answer to {request['cmd']} in {timeout:.0f} s") from None
        except OSError as e:
            raise WorkerError(f"gone before {request['cmd']}: {e}") from None
        if line is None:
            raise WorkerError(f"ended during {request['cmd']}{self._last_words()}")
        try:
            reply = json.loads(line)
        except ValueError:
            raise WorkerError(f"not JSON: {line[:200]!r}") from None
        if "error" in reply:
            raise WorkerError(reply["error"])
        return reply

    def stop(self):
        """Asks the worker to quit, and kills it if it does not. A second call does nothing."""
        if self._errors.closed:
            return
        try:
            self._process.stdin.write(b'{"cmd":"quit"}\n')
            self._process.stdin.close()
            self._process.wait(timeout=3)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        self._errors.close()

    def _last_words(self):
        with open(self.log, "rb") as f:
            lines = f.read()[-2000:].decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""
