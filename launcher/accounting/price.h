#pragma once
// What a part of a machine costs. Pure.

#include "common/domain/size.h"

namespace lockstep::launcher {

// The price in an hour of a part that holds so much of a machine of this size: of its cpus, memory
// and GPUs the share of which it holds most, times the machine's price; all of it if it holds the
// whole machine. 0: the size has no price.
double price_of_part(const Size& machine, int cpus, int gpus, Bytes memory, bool whole);

}  // namespace lockstep::launcher
