"""What jobs and files say, on a terminal: nothing that it would obey or not show, and no half characters."""
import json
import re

from harness.screen import OnATerminal

# Clears the screen, asks for an answer, sets the title; CSI and NEL of C1; reorders, hides, overwrites; no UTF-8.
HOSTILE = ("\x1b[2J\x1b[5n\x1b]0;title\x07", "\x9b2J\x85", "\u202egnp.exe\u2066\u200b\u061c", "\x7f\x08\ufeff\U000e0041")
BYTES = b"good\r" + "".join(HOSTILE).encode() + b"bad \xff\xe2\x82 end"
OURS = re.compile(rb"\x1b\[(?:[0-9;]*m|K|J|[0-9]+A)")  # colours, and the status line's
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")


def on_a_terminal(site, *words, code=0):
    """What the terminal got."""
    terminal = OnATerminal(site, *words)
    assert terminal.exit_code() == code, terminal.seen
    return terminal.seen


def shown(site, *words, code=0):
    """What a person can see of it; fails for anything else."""
    text = OURS.sub(b"", on_a_terminal(site, *words, code=code)).replace(b"\r\n", b"\n").replace(b"\r", b"")
    assert not HIDDEN.search(text.decode()), (words, text)
    return text.decode()


def test_no_text_of_a_job_is_obeyed_or_hidden(site):
    site.up(2)
    file = "".join(HOSTILE[1:])
    script = ("import os, sys, time\n"
              f"os.makedirs('outputs', exist_ok=True); open('outputs/' + {file!r}, 'wb').write({BYTES!r} + b'\\n' + {BYTES!r})\n"
              f"sys.stdout.buffer.write({BYTES!r} + b'\\n\\x1b[31mred\\n'); sys.stdout.flush()\n"
              f"sys.stderr.buffer.write({BYTES!r} + b'\\n'); sys.stderr.flush()\n"
              "if os.environ['LOCKSTEP_RANK'] == '0': sys.exit(3)\ntime.sleep(600)\n")
    site.write("job.py", script)
    job = {"name": "bad", "command": "python3 job.py", "display_name": HOSTILE[1] + HOSTILE[2], "description": "".join(HOSTILE),
           "tags": {"a" + HOSTILE[2]: HOSTILE[0]}, "environment_variables": {"A": HOSTILE[2]},
           "resources": {"instance_count": 2}, "code": "."}
    site.write("bad.yml", json.dumps(job).replace("\\udb40\\udc41", "\\U000e0041"))  # YAML knows no pairs
    failed = shown(site, "job", "create", "-f", "bad.yml", "--stream", code=3)
    assert "?[2J?[5n?]0;title?" in failed and "gnp.exe" in failed and "\ufffd\ufffd end" in failed
    for words in (["job", "list"], ["job", "show", "bad"], ["job", "explain", "bad"], ["job", "events", "bad"],
                  ["job", "files", "bad"], ["job", "logs", "bad"], ["job", "logs", "bad", "--rank", "0"],
                  ["job", "logs", "bad", "--grep", "end", "-t"], ["job", "compare", "bad", "bad"]):
        assert shown(site, *words), words
    assert "gnp.exe" in shown(site, "job", "show", "bad") and "gnp.exe" in shown(site, "job", "files", "bad")
    assert shown(site, "job", "stream", "bad", code=3)
    assert shown(site, "job", "cat", "bad", f"outputs/{file}").count("?[2J?[5n?]0;title?") == 2

    # A colour is a log's own, and ends with its line; all else of it reaches a file, or a terminal that asks for it.
    assert b"\x1b[31mred\x1b[0m" in on_a_terminal(site, "job", "logs", "bad", "--rank", "0")
    assert BYTES in site.logs("bad", "--rank", "0")
    assert b"\x1b[2J\x1b[5n" in on_a_terminal(site, "job", "logs", "bad", "--rank", "0", "--raw")
    assert b"\x1b[2J\x1b[5n" in on_a_terminal(site, "job", "cat", "bad", f"outputs/{file}", "--raw")

    for form in (["-o", "json"], ["-o", "yaml"], ["-o", "tsv"], ["--query", "tags"]):
        text = shown(site, "job", "show", "bad", *form)
        if form[-1] in ("json", "tags"):
            told = json.loads(text)
            assert told == site.json("job", "show", "bad") if form[-1] == "json" else told == job["tags"]
    assert site.show("bad")["description"] == "".join(HOSTILE)
    assert "�" in site.show("bad")["report"]["stderr_tail"]


# Rank 0 writes a character in two pieces, and rank 1 lines between them for longer than a line waits for its end; both
# write one long line without an end.
PIECES = """
import os, sys, time
rank, begun, over, ended = os.environ["RANK"], *sys.argv[1:]
out = sys.stdout.buffer
def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.05)
if rank == "0":
    out.write("begun €€".encode()[:-1]); out.flush()
    open(begun, "w"); wait_for(over)
    out.write("€".encode()[-1:] + b" ended\\n"); out.flush()
else:
    wait_for(begun)
    for i in range(30):
        out.write(f"line {i}\\n".encode()); out.flush(); time.sleep(0.1)
    open(over, "w")
for i in range(40):
    out.write(("€" * 1001).encode()); out.flush()
out.write(b"\\n"); out.flush()
if rank == "0":
    sys.exit(open(ended, "w").close())
wait_for(ended)
sys.stderr.write("é" + "€" * 3000); sys.exit(1)
"""


def test_what_is_shown_in_pieces_is_cut_between_characters(site):
    site.up(2)
    site.write("pieces.py", PIECES)
    done = site.run("run", "--name", "pieces", "-N", "2", "--distribution", "pytorch", "--retry", "0", "--",
                    "python3", "pieces.py", *(site.directory / flag for flag in ("begun", "over", "ended")))
    assert done.returncode == 1
    for text in (done.stdout, done.stderr, site.logs("pieces"), site.logs("pieces", "--rank", "1"),
                 site.run("job", "stream", "pieces").stdout, site.logs("pieces", "--tail", "1")):
        assert "\ufffd" not in text.decode(), "valid UTF-8, and nothing was replaced"
    assert re.search(r"local-\d:0 \| begun €\n", done.stdout.decode()), "it was interrupted where it was cut"
    assert re.search(r"local-\d:0 \+ € ended\n", done.stdout.decode())
    report = site.show("pieces")["report"]
    assert set(report["stderr_tail"].lstrip("é")) == {"€"} and len(report["stderr_tail"].encode()) > 4000
