#pragma once
// Whether a node may take a job with these limits.

#include "common/domain/ranks/limits.h"
#include "common/domain/why/why.h"

namespace lockstep {

// Why a node with these caps cannot take a job with this request; none when it can.
Why beyond(const LimitRequest& asked, const LimitCaps& caps);

}  // namespace lockstep
