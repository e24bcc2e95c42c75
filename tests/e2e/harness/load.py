"""How busy the machine is, and what each module that runs adds to it: tasks that run, wait for a core, or wait for a
disk, as in the kernel's load average, but of the last seconds."""
import collections
import os
import pathlib
import threading
import time

EVERY_S = 1.0
SAMPLES = 10  # a mean of so many: a burst of a second holds nobody up


def of_machine():
    """Tasks of the whole machine, other people's too, but for this one."""
    fields = dict(line.split()[:2] for line in pathlib.Path("/proc/stat").read_text().splitlines()
                  if line.startswith("procs_"))
    return max(0, int(fields["procs_running"]) - 1) + int(fields["procs_blocked"])


def _states(pid):
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/stat", "rb") as file:
                yield file.read().rpartition(b") ")[2][:1]
    except OSError:
        return


def of_group(group):
    """Tasks of a control group (version 1, as `isolated` makes it) and of those below it."""
    tasks = 0
    for folder, _, _ in os.walk(f"/sys/fs/cgroup/pids/{group}"):
        try:
            pids = pathlib.Path(folder, "cgroup.procs").read_text().split()
        except OSError:
            continue
        tasks += sum(state in b"RD" for pid in pids for state in _states(pid))
    return tasks


class Watch:
    """Looks every second, in a thread of its own, while it is entered."""

    def __init__(self):
        self.machine = collections.deque(maxlen=SAMPLES)
        self.groups = {}  # group -> its last samples
        self.highest = {}
        self.highest_of_machine = 0.0
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *failure):
        self.over.set()
        self.thread.join()

    def _look(self):
        while not self.over.wait(EVERY_S):
            self.machine.append(of_machine())
            if len(self.machine) == SAMPLES:
                self.highest_of_machine = max(self.highest_of_machine, self.now())
            for group in list(self.groups):
                tasks = of_group(group)
                with self.lock:
                    if group in self.groups:
                        self.groups[group].append(tasks)
                        self.highest[group] = max(self.highest[group], self._mean(self.groups[group]))

    @staticmethod
    def _mean(samples):
        return sum(samples) / SAMPLES

    def now(self):
        """Of the machine, over the last seconds."""
        samples = list(self.machine)
        return sum(samples) / max(1, len(samples))

    def begin(self, group):
        with self.lock:
            self.groups[group] = collections.deque(maxlen=SAMPLES)
            self.highest[group] = 0.0

    def end(self, group):
        """The most that the group added to the load, as a mean of SAMPLES seconds."""
        with self.lock:
            del self.groups[group]
            return self.highest.pop(group)

    def wait_below(self, limit, unless):
        """Until the load is below `limit`, or unless() says that there is no use in waiting."""
        while self.now() >= limit and not unless():
            time.sleep(EVERY_S)
