#pragma once
// Quotas and their current use, as text. Pure.

#include <string>
#include <vector>

#include "common/domain/people/quota.h"

namespace lockstep::cli {

// One line for each quota. With `unlimited` false, leaves out default limits without use.
std::string quotas_text(const std::vector<QuotaView>& quotas, bool unlimited);

}  // namespace lockstep::cli
