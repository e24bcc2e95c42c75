#pragma once
// Sizes of machines as text.

#include <string>
#include <vector>

#include "common/domain/targets/size.h"

namespace lockstep::cli {

std::string size_table(const std::vector<SizeView>& sizes);
std::string size_text(const SizeView& size);
std::string series_table(const std::vector<SizeSeries>& series);

}  // namespace lockstep::cli
