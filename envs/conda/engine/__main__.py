"""What lockstep-env has py-rattler do: python engine WHAT ORDER.json RESULT.json

WHAT is solve (to packages with URL, SHA-256 and record), install (of exactly those), missing (which
of them would be fetched), or fetch (those that are wanted, until it is stopped). Lines on standard
output say how far it is. RESULT.json holds the answer, or {"code", "message"} with exit
code 1. Written for Python 3.10 and py-rattler 0.28.
"""

import asyncio
import json
import os
import pathlib
import sys
import warnings

from cache import missing
from common import Refused, is_of_full_disk, masked, say, write_whole
from install import install
from share import fetch_wanted
from solve import solve

WHATS = {"solve": solve, "install": install, "missing": missing, "fetch": fetch_wanted}


def outcome_of(what, order):
    try:
        return 0, asyncio.run(WHATS[what](order))
    except Refused as refused:
        return 1, {"code": refused.code, "message": masked(str(refused))}
    except OSError as error:
        code = "resource_exhausted" if is_of_full_disk(error) else "io"
        return 1, {"code": code, "message": masked(str(error))}
    except Exception as error:  # rattler's, or a mistake of ours: no stack trace is shown
        return 1, {"code": "internal", "message": masked(f"{type(error).__name__}: {error}")}
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of rattler; its module cannot be imported
            raise
        return 1, {"code": "corrupt", "message": masked(f"py-rattler crashed: {error}")}


def main():
    warnings.showwarning = lambda message, *_: say(f"warning: {message}")
    os.environ["RUST_BACKTRACE"] = "0"
    what, order_path, result_path = sys.argv[1:]
    with open(order_path, encoding="utf-8") as file:
        order = {**json.load(file), "result": result_path}
    code, result = outcome_of(what, order)
    try:
        write_whole(pathlib.Path(result_path), json.dumps(result))
    except OSError as error:  # a package's script has removed the environment
        print(masked(f"cannot write the result: {error}"))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # rattler's threads may hang when the interpreter ends


if __name__ == "__main__":
    main()
