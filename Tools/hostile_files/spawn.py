"""Runs commands that come as lines of JSON, one after the other, each within limits, and answers with what they took.

A program of its own, because a process that is made begins with the memory that its maker had at most, in the count of
the system: this one stays small, whatever files the other one makes.
"""

import json
import os
import resource
import subprocess
import sys
import threading
import time


def kill(process: int) -> None:
    try:
        os.kill(process, 9)
    except ProcessLookupError:
        pass


def run(request: dict) -> dict:
    begun = time.monotonic()
    with open(request["output"], "wb") as output, open(request["errors"], "wb") as errors:
        child = subprocess.Popen(
            request["command"],
            cwd=request["place"],
            env=request["environment"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        for name, value in request["limits"].items():
            try:
                resource.prlimit(child.pid, getattr(resource, name), (value, value))
            except ProcessLookupError:
                break
        timer = threading.Timer(request["patience"], kill, (child.pid,))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
    return {
        "status": child.returncode,
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.monotonic() - begun,
        "memory": usage.ru_maxrss * 1024,
    }


for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
