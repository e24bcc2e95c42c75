#pragma once
// The version specifiers of Python's packages, in the grammar of PEP 440: ">=1.22", "==1.*",
// "~=2.1".

#include <string>
#include <string_view>

namespace lockstep::spec {

inline constexpr std::string_view kVersionOperators = "=<>!~";  // the characters of operators

// The fault in an operator; "": it has none.
std::string fault_of_operator(std::string_view word);

// The fault in the version after a valid operator `word` other than '==='; "": it has none.
std::string fault_of_version(std::string_view word, std::string_view version);

}  // namespace lockstep::spec
