#pragma once
// Reasons of this version as trees of named values, and back.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/why/data.h"
#include "common/domain/why/why.h"

namespace lockstep {

WhyData to_data(const Why& why);
// Makes a reason. A field that `data` lacks keeps its default, one that this version does not know
// is dropped. A code or an enumerator that this version does not know gives Unknown. Fails on a
// value of another kind.
Result<Why> why_of(const WhyData& data);
// The reason for the logs of programs: "code field=value …"; for Told its text alone.
std::string log_text(const Why& why);
// The codes of all reasons, group by group; for tests and the documentation.
std::vector<std::string_view> all_reason_codes();

}  // namespace lockstep
