"""Archived jobs, and texts and tags that are changed after submission."""
import json

from harness.site import wait_until


def names(site, *words):
    return [job["name"] for job in site.json("job", "list", *words)]


def test_archived_jobs_and_steps_are_left_out_of_lists(site):
    site.up(1)
    site.submit("--name", "old", "--", "echo", "kept")
    site.write("iris.yml", "type: pipeline\nname: iris\njobs:\n  one: {command: 'true'}\n  two: {command: sleep 600}\n")
    site.ok("job", "create", "-f", "iris.yml")
    site.wait_for_status("old", "Completed")
    wait_until(lambda: (site.show("iris")["jobs"]["two"]["status"]) == "Running", "the second step runs")
    done = site.run("job", "archive", "old", "iris", "never")
    assert done.returncode == 1 and b"there is no job 'never'" in done.stderr, done
    assert b"job 'old' is archived\n" in done.stderr and b"job 'iris' is archived; it is Running, and goes on" in done.stderr
    assert names(site) == names(site, "--parent", "iris") == []
    assert site.ok("job", "list") == "only archived jobs are left; `lockstep job list --include-archived` shows them\n"
    assert "pipeline 'iris' is archived" in site.ok("job", "list", "--parent", "iris")
    assert names(site, "--include-archived") == names(site, "--archived-only") == ["iris", "old"]
    assert names(site, "--include-archived", "--parent", "iris") == ["iris_one", "iris_two"]
    assert "Completed (archived)" in site.ok("job", "list", "--archived-only")
    assert site.show("old")["archived"] and site.show("iris_one")["archived"]
    assert "lockstep job restore old" in site.ok("job", "show", "old")
    assert "with pipeline iris" in site.ok("job", "show", "iris_one")
    assert site.ok("__complete", "job", "restore", "o") == "old\tCompleted\n"
    refused = site.run("job", "archive", "iris_one")
    assert refused.returncode == 1 and b"lockstep job archive iris" in refused.stderr, refused
    assert site.show("iris")["jobs"]["two"]["status"] == "Running", "it goes on"
    site.ok("job", "cancel", "iris")
    site.wait_for_status("iris", "Canceled")
    assert site.logs("old") == b"kept\n"
    site.ok("down")
    site.up(1)
    assert names(site, "--archived-only", "--query", "[?archived]") == ["iris", "old"]
    site.ok("job", "restore", "old", "iris")
    assert names(site) == ["iris", "old"] and names(site, "--archived-only") == []
    assert site.ok("job", "list", "--query", "[].archived", "-o", "tsv") == "false\nfalse\n"
    site.ok("job", "archive", "old")
    site.ok("job", "delete", "old")
    assert names(site, "--include-archived") == ["iris"]


def test_texts_and_tags_are_changed_at_any_time(site):
    site.up(1)
    site.write("job.yml", "name: j\ncommand: echo $AZUREML_EXPERIMENT_ID; sleep 600\ndescription: first\ntags: {model: small, owner: ada}\n")
    site.ok("job", "create", "-f", "job.yml")
    site.wait_for_status("j", "Running")
    site.ok("job", "update", "j", "--set", "tags.model=large", "--set", "display_name=Digits ✓", "--set", "experiment_name=digits",
            "--remove", "tags.owner", "--remove", "description")

    def texts():
        job = site.show("j")
        return [job[key] for key in ("display_name", "experiment_name", "description", "tags")]

    assert texts() == ["Digits ✓", "digits", "", {"model": "large"}]
    assert names(site, "--tag", "model=large", "--experiment", "digits") == ["j"]
    site.ok("job", "cancel", "j")
    site.wait_for_status("j", "Canceled")
    site.ok("job", "update", "--name", "j", "--remove", "tags", "--set", "description=\x1b[31mred")
    assert texts() == ["Digits ✓", "digits", "\x1b[31mred", {}]
    assert "\x1b" not in site.ok("job", "show", "j")
    assert b"is unchanged" in site.run("job", "update", "j", "--remove", "tags").stderr
    for words, code, why in ((["--set", "command=true"], 2, "'command' is fixed when a job is submitted"),
                             (["--set", "descripton=x"], 2, "did you mean 'description'?"),
                             (["--remove", "name"], 2, "change display_name"),
                             ([], 2, "--set, --remove or --priority"),
                             (["--set", "display_name=" + "x" * 70_000], 1, "display_name"),
                             (["--set", "tags.a=b", "--priority", "high"], 1, "only while it is Queued")):
        done = site.run("job", "update", "j", *words)
        assert done.returncode == code and why in done.stderr.decode(), (words, done)
    assert site.show("j")["tags"] == {"a": "b"}, "what came before the refused change was done"
    asked = [entry for entry in site.json("audit") if entry["what"] == "update job" and entry["outcome"] == "done"]
    assert "large" not in json.dumps(asked) and "tags.model" in json.dumps(asked)
