"""What a channel did not give is asked for again. Not by rattler: its pauses would be taken for a
server's silence."""

import asyncio

from common import Refused, say
from silence import unless_silent

PAUSES = (0.5, 1.0, 2.0)


async def ask(make, sign, whose, failure_of):
    """What comes of make(). `failure_of`: of an error of rattler's; `unavailable` may pass."""
    for pause in (*PAUSES, None):
        try:
            return await unless_silent(make(), sign, whose)
        except Refused:
            raise
        except Exception as error:
            failure = failure_of(error)
            if failure.code != "unavailable":
                raise failure from error
            if pause is None:
                times = len(PAUSES) + 1
                raise Refused(failure.code, f"{failure} (asked {times} times)") from error
        say(f"asking again: {failure}")
        await asyncio.sleep(pause)
