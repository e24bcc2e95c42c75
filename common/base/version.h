#pragma once
// Versions of libraries and drivers, "2.36": numbers with dots between them.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep {

// {2, 36}, to be compared number by number; nullopt: the text is not a version.
std::optional<std::vector<std::uint32_t>> version_numbers(std::string_view text);

}  // namespace lockstep
