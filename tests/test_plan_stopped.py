"""A plan that is too long: Ctrl-C, a limit on time, a limit on memory, each in its own process."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time

LINE = (
    "plan min cost_per_hour given model llama-3.1-8b, gpu h100-sxm, prompt = 3000, output = 1000, "
    "arrival_rate = 3, price = $2/h, tpot <= 40 ms over tp in 1..16, pp in 1..40, "
    "gpu_memory_utilization in 0.5..0.95 step 0.001, mbu in 0.5..0.9 step 0.01, batch in 1..100000"
)

START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from derive.cli import main; sys.exit(main(sys.argv[1:]))"
)


def begun(*more: str) -> subprocess.Popen[str]:
    """The question in a process that takes Ctrl-C as a terminal's would."""
    words = [sys.executable, "-c", START, "ask", LINE, *more]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True)


def test_ctrl_c_stops_a_plan_without_a_traceback() -> None:
    process = begun("--time", "60")
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in out + err


def test_a_space_of_a_trillion_points_ends_in_its_time_and_memory() -> None:
    """More than 10^12 points: an honest status, what was found, what is proved."""
    process = begun("--time", "4")
    out, err = process.communicate(timeout=40)
    assert process.returncode == 6, (out, err)
    assert "error[unproved]: stopped after 4 s" in out + err
    assert "best found" in out + err
    assert "proved       not below" in out + err
    # In kilobytes, and the largest of all children so far.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2_000_000


def test_a_terminal_is_told_how_far_it_is() -> None:
    """A plan of several seconds counts on a terminal, and says nothing of it into a pipe."""
    import pexpect

    process = pexpect.spawn(
        sys.executable, ["-m", "derive", "ask", LINE, "--time", "5"], encoding="utf-8", timeout=30
    )
    process.expect(r"[0-9]+ of 11834240 combinations were tried")
    process.close(force=True)
    assert "were tried" not in begun("--time", "4").communicate(timeout=40)[1]
