#pragma once
// Why the ranks of a node do not use RDMA, or could not, and what to do about it.

#include <string>

#include "common/domain/why/ranks/rdma.h"

namespace lockstep::words {

std::string say(const RdmaIsLacking& reason);
std::string say(const RanksAvoidRdma& reason);
std::string say(const RdmaIsNotUsed& reason);
std::string say(const ContainerLacksRdma& reason);
std::string say(const ContainerLocksLittle& reason);

}  // namespace lockstep::words
