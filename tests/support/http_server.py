#!/usr/bin/env python3
"""A folder over HTTP on this machine: http_server.py FOLDER STATUS

Prints its port. STATUS: the answer to everything, if not 0. Each path that GET asks for is a line
of FOLDER/asked. Lines of FOLDER/faults, "KIND TEXT", say what becomes of files with TEXT in their
paths:
  silent         no answer
  half           half of it, and then nothing
  held           half of it, and the rest when the line is gone
  cut            half of it, and the connection is closed
  refused        the connection is closed before anything is said
  503            that status
  html           a page in its place
  corrupt        a bit of it is another one
  private        for "ann" with the password "s3cr3t" alone
  signed         redirected to itself with a signature, and refused there
  …-once         any of them, the first time that it is asked for
"""

import functools
import http.server
import pathlib
import sys
import threading
import time

FOLDER, STATUS = pathlib.Path(sys.argv[1]), int(sys.argv[2])
LOCK, DONE = threading.Lock(), set()


def faults():
    try:
        return [tuple(line.split(" ", 1)) for line in (FOLDER / "faults").read_text().splitlines()]
    except FileNotFoundError:
        return []


def fault_of(path):
    for kind, text in faults():
        if text in path:
            with LOCK:
                is_over = kind.endswith("-once") and (kind, text) in DONE
                DONE.add((kind, text))
            return "" if is_over else kind.removesuffix("-once")
    return ""


class Refusing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(STATUS)

    do_HEAD = do_GET


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        with LOCK, open(FOLDER / "asked", "a", encoding="utf-8") as asked:
            asked.write(self.path + "\n")
        del self.headers["If-Modified-Since"]  # files may change within its second
        fault = fault_of(self.path)
        if fault == "private":
            if self.headers.get("Authorization") != "Basic YW5uOnMzY3IzdA==":
                return self.send_error(401)
            fault = ""
        if fault == "":
            return super().do_GET()
        if fault == "silent":
            return self.wait(lambda: False)
        self.close_connection = True
        if fault == "signed":
            return self.redirect()
        if fault == "refused":
            return None
        if fault.isdigit():
            return self.send_error(int(fault))
        data = bytearray(pathlib.Path(self.translate_path(self.path)).read_bytes())
        if fault == "html":
            data = bytearray(b"<html>log in</html>")
        middle = len(data) // 2
        if fault == "corrupt":
            data[middle] ^= 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:middle])
        self.wfile.flush()
        if fault in ("half", "held"):
            self.wait(lambda: fault == "held" and fault_of(self.path) == "")
        if fault != "cut":
            self.wfile.write(data[middle:])
        return None

    def redirect(self):
        if "?" in self.path:
            return self.send_error(403)
        self.send_response(302)
        self.send_header("Location", self.path + "?X-Amz-Signature=s3cr3t&X-Amz-Date=1")
        self.end_headers()
        return None

    @staticmethod
    def wait(is_over):
        while not is_over():
            time.sleep(0.02)


handler = functools.partial(Handler, directory=FOLDER) if STATUS == 0 else Refusing
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
