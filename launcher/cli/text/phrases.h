#pragma once
// Parts of sentences and lines about jobs that several views have. Pure.

#include <string>
#include <vector>

#include "common/domain/messages/views.h"

namespace lockstep::cli {

// Why lists leave the job out; "": they do not.
std::string archived_text(const JobView& job);

// "5m ago"; "-": never. Clocks of two machines differ, so a negative age counts as zero.
std::string ago(Instant time, Instant now);

// "0-3,8": sorted ids as ranges; "" when there are none.
std::string ranges_of(std::vector<int> ids);
// "0–3, 8": the same for a sentence, with an en dash.
std::string ranges_in_words(std::vector<int> ids);

}  // namespace lockstep::cli
