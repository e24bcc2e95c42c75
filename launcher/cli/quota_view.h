#pragma once
// Quotas and what is taken of them, as text. Pure.

#include <string>
#include <vector>

#include "common/domain/quota.h"

namespace lockstep::cli {

// A line for each limit; without `unlimited` only for those that bind or of which something is
// taken.
std::string quotas_text(const std::vector<QuotaView>& quotas, bool unlimited);

}  // namespace lockstep::cli
