#pragma once
// The names of outputs and inputs, and the folder of the working directory that is Lockstep's own.

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep {

inline constexpr std::size_t kMaxOutputNameBytes = 100;
// Whether the name has 1 to kMaxOutputNameBytes letters, digits and '_', not beginning with a
// digit, because it is used in paths and variables.
bool valid_output_name(const std::string& name);

inline constexpr std::size_t kMaxKeepPatterns = 100;  // the most patterns of further files that one
                                                      // job keeps

// The folder that no snapshot has.
inline constexpr std::string_view kReservedFolder = ".lockstep";

}  // namespace lockstep
