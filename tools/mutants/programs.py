"""Runs tests and programs of the explorer for tools/code-mutants, and says which test failed."""
import os
import re
import resource
import select
import signal
import subprocess
import time


def cpu_of_children():
    """Seconds of CPU time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Outcome:
    """How a program ended: `failed`, its test or scenario that did, and what it printed."""

    def __init__(self):
        self.failed = self.out_of_time = False
        self.name = ""
        self.text = ""
        self.cpu = 0.0


def run(command, cpu_limit, environment=None, stop_at=None, wall_limit=1200):
    """Runs a program until it ends, or prints a line that `stop_at` matches."""
    outcome = Outcome()
    began, before = time.monotonic(), cpu_of_children()
    process = subprocess.Popen(
        ["sh", "-c", 'ulimit -c 0; ulimit -S -t "$1"; shift; exec "$@"', "sh", str(cpu_limit)] +
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=dict(os.environ, **(environment or {})), start_new_session=True)
    pipe, data = process.stdout.fileno(), b""
    while True:
        ended = process.poll() is not None
        readable = select.select([pipe], [], [], 0 if ended else 0.2)[0]
        more = os.read(pipe, 1 << 16) if readable else b""
        data += more
        if stop_at is not None and more and stop_at.search(data):
            outcome.failed = True
            break
        if time.monotonic() - began > wall_limit:
            outcome.failed = outcome.out_of_time = True
            break
        if readable and not more: # closed: it ends now, or goes on without saying more
            try:
                process.wait(max(0.1, wall_limit - (time.monotonic() - began)))
            except subprocess.TimeoutExpired:
                continue
            break
        if ended and not more: # something that it started may still have the pipe
            break
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.stdout.close()
    status = process.wait()
    if not outcome.failed and status != 0:
        outcome.failed = True
        outcome.out_of_time = status in (-signal.SIGXCPU, -signal.SIGKILL)
    outcome.text = data.decode(errors="replace")
    outcome.cpu = cpu_of_children() - before
    return outcome


def run_test(program, limit, cpu_limit, names=()):
    outcome = run([program] + list(names), cpu_limit,
                  {"WEFT_TEST_NO_GDB": "1", "WEFT_TEST_TIMEOUT": str(limit)},
                  re.compile(rb"^FAIL ", re.M))
    failed = re.findall(r"^FAIL ([a-z_0-9]+)", outcome.text, re.M)
    begun = re.findall(r"^run +([a-z_0-9]+)", outcome.text, re.M)
    outcome.name = (failed or begun or [""])[-1]
    return outcome


def run_scenarios(program, mode, cpu_limit, names=()):
    outcome = run([program, "--quick", "--stop", "--mode", mode] + list(names), cpu_limit)
    found = re.search(r"^([a-z_0-9]+) *(?:sc|tso|ra) .*FAILED", outcome.text, re.M)
    # A crash where the result is looked at, or of the explorer itself. Running out of time proves
    # nothing: the explorer itself ends endless executions.
    outcome.name = found.group(1) if found else ""
    outcome.failed = bool(found) or (outcome.failed and not outcome.out_of_time)
    return outcome
