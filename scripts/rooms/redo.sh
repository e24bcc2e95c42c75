#!/bin/bash
# Tries move.py in the worktree: resets it, moves, adds.
cd ../rooms && rm -rf .gen && git reset -q --hard && git clean -fdq && python3 scripts/rooms/make_map.py --write >/dev/null && nice python3 scripts/rooms/move.py . "$@" && git add -A && scripts/layers
