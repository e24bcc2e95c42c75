"""First screens of a job that waits for its turn, and of a launcher that was started again meanwhile."""
from harness.first_screen import Watched, judge, plain, screen
from harness.site import wait_until


def test_a_job_that_waits_for_another(site):
    site.up(1)
    site.submit("--name", "first", "--", "sleep", "1000")
    site.wait_for_status("first", "Running")
    site.submit("--name", "train", "--", "true")
    site.wait_for_status("train", "Queued")
    wait_until(lambda: site.show("train")["reason"], "it says why")
    shown = [line for line in site.ok("job", "show", "train").splitlines()
             if line.startswith(("status", "reason", "what to do"))]
    site.ok("job", "cancel", "train", "first")
    judge("waits-in-queue", plain(site, "\n".join(shown) + "\n"), "Queued",
          "local-0 is held as a whole by job 'first'", "`lockstep job cancel first`")


def test_a_launcher_that_was_started_again(site):
    """Whoever follows a job goes on following it."""
    site.up(1)
    flag = site.directory / "flag"
    run = Watched(site, "run", "--name", "train", "--", "sh", "-c",
                  f"echo begins; while [ ! -e {flag} ]; do sleep 0.05; done; echo ends")
    run.wait_until(lambda: b"begins" in run.said["out"], "the rank runs")
    site.kill(site.launcher_pids())
    run.wait_for("the launcher ")
    site.up(1)
    flag.touch()
    judge("launcher-started-again", screen(site, run.end()), "exit code 0", "the job continues", "the launcher is back", "ends")
