#!/usr/bin/env python3
"""Runs the end-to-end tests, up to four modules at a time: they mostly wait. Each module runs as on a machine of
its own (see `isolated`); where that cannot be had, all modules run one after the other, on this one. A module begins
only while the machine is not busy, and what makes it busy on purpose runs alone: tests have time limits.

usage: side_by_side.py RESULTS-DIRECTORY [-k EXPRESSION]. Leaves e2e-MODULE.xml in RESULTS-DIRECTORY. Exit
code 0: all tests passed or were skipped. A module's output is printed when it ends. RESULTS-DIRECTORY must
not be below /tmp: each module has a /tmp of its own. A module that leaves no XML has failed.
"""
import argparse
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import conftest
from harness import accounts, load

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What takes minutes comes first, and what fetches from Debian's archive keeps this machine's network.
LONG = ["test_cluster_docker", "test_chaos", "test_bundle", "test_containers", "test_compute_ssh", "test_reliability",
        "test_disk", "test_environment_passed_on", "test_provider_contract", "test_container_gangs", "test_cluster",
        "test_environment_build", "test_provider_tunnel", "test_packages"]
NETWORK = ["test_bundle", "test_packages", "test_cgroup_v2", "test_environment_network", "test_two_users",
           "test_environment_conda", "test_package_sharing", "test_azure_objects", "test_query", "test_pmix_versions", "test_provider_examples",
           "test_suggest_helper"]
# Bombs of processes, logs and files: the kernel holds up whoever forks or writes, in all modules. These come last, one
# after the other, when nothing else runs. test_disk is none of them: what it fills are disks of memory, of 64 MiB. Nor is
# test_slow_disk: the library that stalls its launcher's syncs only sleeps.
ALONE = ["test_logs", "test_hostile_ranks"]
# The most tasks that a module adds for ten seconds, as is printed when it ends (here of two cores); the others add
# OTHERS or less. Together those that run have no more than MOST a core, so that what is measured stays below 4.
TASKS = {"test_chaos": 6.5, "test_namespaces": 6.0, "test_pmix_versions": 5.0, "test_containers": 4.5, "test_bundle": 4.0,
         "test_environment_passed_on": 4.0, "test_container_gangs": 4.5, "test_environment_build": 4.0, "test_peers": 4.0,
         "test_environment_network": 4.0, "test_restarts": 4.0, "test_gang": 4.0, "test_two_users": 3.5,
         "test_secrets_in_containers": 3.5, "test_cluster_docker": 3.5, "test_queue": 3.5, "test_regressions": 3.5,
         "test_stores": 3.0, "test_environment_conda": 3.0, "test_datastores": 2.5, "test_outputs": 2.5}
OTHERS = 2.0
MOST = 3.5
SIDES = 4
BUSY = 3.0  # tasks a core; no module begins beside others then
TESTS_FAILED, NO_TEST_CHOSEN = 1, 5  # pytest's exit codes


def modules():
    """Paths below this folder without their ending, the longest first; the size of a file stands for its time.
    Without those that run alone."""
    found = {str(path.relative_to(HERE).with_suffix("")): path.stat().st_size for path in HERE.rglob("test_*.py")}
    return [name for name in LONG if name in found] + \
        sorted((name for name in found if name not in LONG + ALONE), key=lambda name: -found[name])


@contextlib.contextmanager
def ordinary_users():
    """The tests' users, made once for all modules: a module that made one would take it from its neighbour."""
    with accounts.existing(conftest.USER), accounts.existing(*accounts.PEOPLE, group=accounts.GROUP):
        yield


class Sides:
    """Takes modules from one list and runs them, as many at a time as fit."""

    def __init__(self, results, choose, isolated, watch):
        self.results, self.choose, self.isolated, self.watch = results, choose, isolated, watch
        self.waiting = modules()
        self.running, self.failed = {}, []
        self.stopped = False
        self.lock = threading.Lock()
        self.taken = 0.0  # tasks, see TASKS
        self.changed = threading.Condition(self.lock)
        self.gate = threading.Lock()  # modules begin one at a time

    def command(self, name):
        words = []
        if self.isolated:
            words = [HERE / "isolated"] + (["--net"] if name not in NETWORK else [])
        return words + [sys.executable, "-m", "pytest", HERE / f"{name}.py", "-q", "-p", "no:cacheprovider",
                        "--no-header", f"--junitxml={self.xml_of(name)}", "-o", "junit_family=xunit1", *self.choose]

    def xml_of(self, name):
        return self.results / f"e2e-{name.replace('/', '-')}.xml"

    def tell_by_name(self, name):
        """Of a module whose XML does not tell: a failure for the summary."""
        if name not in self.failed:
            self.failed.append(name)
        with open(self.results / "extra-failures", "a", encoding="utf-8") as extra:
            extra.write(f"{name}\n")

    def run_one(self, name):
        log = self.xml_of(name).with_suffix(".log")
        begun = time.monotonic()
        with open(log, "wb") as output:
            with self.lock:
                if self.stopped:
                    return
                child = subprocess.Popen(self.command(name), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                                         stderr=subprocess.STDOUT, start_new_session=True)
                self.running[name] = child
            if self.isolated:
                self.watch.begin(f"side-{child.pid}")
            code = child.wait()
        busy = f", load {self.watch.end(f'side-{child.pid}'):.1f}" if self.isolated else ""
        text = log.read_text(encoding="utf-8", errors="replace").strip()
        with self.lock:
            del self.running[name]
            if self.stopped:
                return
            if code == NO_TEST_CHOSEN and self.choose:
                self.xml_of(name).unlink(missing_ok=True)
                return
            if code != 0:
                self.failed.append(name)
                print(text, flush=True)
            if code not in (0, TESTS_FAILED) or not self.xml_of(name).exists():
                self.tell_by_name(name)
            last = text.splitlines()[-1] if text else f"no output, exit code {code}"
            print(f"{name}: {last} ({time.monotonic() - begun:.0f} s{busy})", flush=True)

    def take(self):
        """The first that waits and fits beside those that run; None: nothing waits."""
        most = MOST * os.cpu_count()
        with self.changed:
            while self.waiting and not self.stopped:
                for name in self.waiting:
                    if self.taken == 0 or self.taken + TASKS.get(name, OTHERS) <= most:
                        self.waiting.remove(name)
                        self.taken += TASKS.get(name, OTHERS)
                        return name
                self.changed.wait(1.0)
            return None

    def put_back(self, name):
        with self.changed:
            self.taken -= TASKS.get(name, OTHERS)
            self.changed.notify_all()

    def wait_for_quiet(self):
        """Until the machine has time for one more. What others do here does not hold up the only one."""
        with self.gate:
            self.watch.wait_below(BUSY * os.cpu_count(), unless=lambda: self.stopped or not self.running)

    def side(self):
        while (name := self.take()) is not None:
            try:
                self.wait_for_quiet()
                self.run_one(name)
            except Exception as failure:  # ours, not a test's: the module has not run
                print(f"{name}: {failure}", flush=True)
                with self.lock:
                    self.tell_by_name(name)
            finally:
                self.put_back(name)

    def run(self, count):
        """Runs all; on a signal, ends what runs and raises KeyboardInterrupt."""
        self.run_waiting(count)
        print(f"side by side: at most {self.watch.highest_of_machine / os.cpu_count():.1f} tasks a core for "
              f"{load.SAMPLES * load.EVERY_S:.0f} s, of the whole machine", flush=True)
        self.waiting = list(ALONE)
        self.run_waiting(1)

    def run_waiting(self, count):
        threads = [threading.Thread(target=self.side) for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.2)
        except KeyboardInterrupt:
            with self.lock:
                self.stopped = True
                for child in self.running.values():
                    # The tests' own processes end by pytest's fixtures, or with their isolation.
                    child.send_signal(signal.SIGTERM if self.isolated else signal.SIGINT)
            for thread in threads:
                thread.join()
            raise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("-k", dest="choose", metavar="EXPRESSION")
    options = parser.parse_args()
    options.results.mkdir(parents=True, exist_ok=True)
    isolated = subprocess.run([HERE / "isolated", "--probe"], check=False).returncode == 0
    if not isolated:
        print("one module at a time: only root, with control groups of version 1, can run them side by side",
              flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with ordinary_users() if os.geteuid() == 0 else contextlib.nullcontext(), load.Watch() as watch:
            sides = Sides(options.results.resolve(), ["-k", options.choose] if options.choose else [], isolated, watch)
            sides.run(SIDES if isolated else 1)
    except KeyboardInterrupt:
        return 130
    return 1 if sides.failed else 0


if __name__ == "__main__":
    sys.exit(main())
