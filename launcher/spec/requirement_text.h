#pragma once
// The text of one requirement of pip, as a line of a requirements file has it: "numpy>=1.22,<2",
// "six[extra] @ https://…", "torch; python_version >= '3.9'", with --hash behind it. Grammar: PEP
// 508, and pip's documentation, "Requirements File Format". What pip would stumble over on a node
// is said here; whether there is such a package is the index's to say.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::spec {

struct RequirementFault {
  std::size_t at = 0;   // of the text, where it is wrong
  std::string message;  // without the text and its place
};

std::optional<RequirementFault> fault_of_requirement(std::string_view text);

}  // namespace lockstep::spec
