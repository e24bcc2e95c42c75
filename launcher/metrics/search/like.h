#pragma once
// SQL's LIKE, which takes time of at most the product of both lengths, whatever the pattern.

#include <string_view>

namespace lockstep::metrics {

// In `pattern`, '%' stands for any characters and '_' for one; everything else for itself. There is
// no escape, as in MLflow.
bool like(std::string_view text, std::string_view pattern);
// The same without regard to the case of ASCII letters.
bool ilike(std::string_view text, std::string_view pattern);

}  // namespace lockstep::metrics
