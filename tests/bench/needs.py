"""What a bench needs to be there before it starts."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LOCKSTEP_BUILD", ROOT / "build")).resolve()
OURS = ("bin/lockstep", "bin/lockstepd", "bin/lockstep-agent", "bin/lockstep-runner")
FLEET = (*OURS, "bench/fleet")


def need(programs=OURS):
    """Ends with exit code 2 and one line when one of these is not built."""
    missing = [name for name in programs if not os.access(BUILD / name, os.X_OK)]
    if not missing:
        return
    option = " (cmake -DLOCKSTEP_BENCHMARKS=ON)" if any(name.startswith("bench/") for name in missing) else ""
    print(f"{pathlib.Path(sys.argv[0]).name}: not built in {BUILD}: {', '.join(missing)}; build it{option}, or name "
          "another build folder with LOCKSTEP_BUILD", file=sys.stderr)
    sys.exit(2)
