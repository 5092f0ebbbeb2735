"""Takes the power from a real file system under a writer; see Scripts/powerloss --disk."""
import fcntl
import os
import random
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

from .writer_checks import Wrong, allowed, check, need

NAME = "fault.sqlite"
# FS_IOC_GOINGDOWN, with neither a flush nor the journal.
GOING_DOWN, NO_FLUSH = 0x8004587D, struct.pack("I", 2)


class Image:
    """An ext4 file system in a file."""

    def __init__(self, folder):
        self.file, self.place = os.path.join(folder, "disk"), os.path.join(folder, "mounted")
        os.mkdir(self.place)
        with open(self.file, "wb") as stream:
            stream.truncate(96 << 20)

    def make(self):
        """Why there can be none, None where there is one."""
        if os.geteuid() != 0:
            return "it needs root"
        try:
            subprocess.run(["mkfs.ext4", "-q", "-F", self.file], check=True, capture_output=True)
            self.mount()
            self.shut_down()
            self.unmount()
        except (OSError, subprocess.CalledProcessError) as error:
            self.unmount()
            return f"a file system cannot be made, mounted and shut down here: {error}"
        return None

    def mount(self):
        subprocess.run(["mount", "-o", "loop", self.file, self.place], check=True, capture_output=True)

    def unmount(self):
        if os.path.ismount(self.place):
            subprocess.run(["umount", self.place], check=True)

    def shut_down(self):
        folder = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(folder, GOING_DOWN, NO_FLUSH)
        finally:
            os.close(folder)


def stop(child):
    """Stops a process, and waits until all its threads have: else a sync may return well inside the shutdown."""
    child.send_signal(signal.SIGSTOP)
    tasks = f"/proc/{child.pid}/task"
    while True:
        states = []
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/stat") as stream:
                states.append(stream.read().rpartition(")")[2].split()[0])
        if set(states) <= {"T", "Z", "X"}:
            return


def cycle(image, options, source, before):
    """The last transaction in the store after one loss of power, and whether a save was in flight."""
    path = os.path.join(image.place, NAME)
    environment = dict(os.environ)
    if options.self_test:
        environment.update(FAULT_PREFIX=image.place, FAULT_MODE="swallow")
    child = subprocess.Popen([options.writer, path, "1000000"], stdout=subprocess.PIPE, text=True, env=environment)
    lines, left = [], source.randrange(1, 6)
    for line in child.stdout:
        lines.append(line.rstrip("\n"))
        left -= line.startswith("begin")
        if left <= 0:
            time.sleep(source.random() * 0.01)
            break
    stop(child)
    image.shut_down()
    child.kill()
    lines += child.stdout.read().splitlines()
    child.wait()
    image.unmount()
    image.mount()
    possible = allowed(lines, before)
    last = check(options.writer, path, options.store)
    need(last in possible, f"{last} in the store instead of {sorted(possible)}")
    return last, len(possible) == 2, sum(line.startswith("saved") for line in lines)


def cycles(options):
    source, begun = random.Random(options.seed), time.monotonic()
    last, in_flight, saves = -1, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        image = Image(folder)
        if reason := image.make():
            print(reason)
            sys.exit(77)
        try:
            image.mount()
            for number in range(options.cycles):
                last, was_in_flight, acknowledged = cycle(image, options, source, last)
                in_flight, saves = in_flight + was_in_flight, saves + acknowledged
        except (Wrong, sqlite3.Error, subprocess.SubprocessError) as error:
            if options.self_test:
                print(f"powerloss: {options.store} on a disk, without syncs: loss {number} was noticed: {error}")
                return
            sys.exit(f"powerloss: {options.store}, loss {number} of seed {options.seed} failed: {error}")
        finally:
            image.unmount()
    print(f"powerloss: {options.store} on ext4, {options.cycles} losses of power of seed {options.seed}, {in_flight} with a "
          f"save in flight, {saves} acknowledged saves, 0 lost, 0 torn, {time.monotonic() - begun:.0f} s")
    if options.self_test:
        sys.exit("powerloss: nobody noticed")
