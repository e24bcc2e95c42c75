#pragma once
// The nouns for the amounts that quotas limit, in English.

#include <string_view>

#include "common/domain/people/quota.h"

namespace lockstep::words {

std::string_view noun_of(QuotaLimit limit);  // "running jobs", "gpus"

}  // namespace lockstep::words
