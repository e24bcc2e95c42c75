#pragma once
// Checks the text of one pip requirement, a line of a requirements file: "numpy>=1.22,<2",
// "six[extra] @ https://…", "torch; python_version >= '3.9'", optionally followed by --hash.
// Grammar: PEP 508, and pip's documentation, "Requirements File Format". It reports faults that
// would make pip fail on a node, but does not look whether the package exists.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::spec {

struct RequirementFault {
  std::size_t at = 0;   // offset of the fault in the text
  std::string message;  // the message, without the text and its place
};

std::optional<RequirementFault> fault_of_requirement(std::string_view text);

}  // namespace lockstep::spec
