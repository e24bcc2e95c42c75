#pragma once
// JMESPath's rules for JSON values: their types, which ones are true, equal or in order.

#include <string_view>

#include "launcher/cli/jmespath/node.h"

namespace lockstep::cli::jmespath {

// "string", "number", "boolean", "array", "object" or "null".
std::string_view type_of(const Json& value);
// Whether a value counts as true; null, false, "", [] and {} do not.
bool is_true(const Json& value);
// Compares without regard to the order of keys; 1 equals 1.0.
bool equal(const Json& a, const Json& b);
// Numbers have an order among each other, and so have strings.
bool are_ordered(const Json& a, const Json& b);
bool less(const Json& a, const Json& b);  // compares values that are ordered

}  // namespace lockstep::cli::jmespath
