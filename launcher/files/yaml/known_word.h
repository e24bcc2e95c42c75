#pragma once
// Reads a value that must be one of the words that known_words() of keys.h lists for its key.

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "launcher/files/yaml/tree.h"

namespace lockstep::spec {

// Turns the letters of ASCII into lower case.
std::string lower_case(std::string text);

// "mpi, pytorch or ray".
std::string listed(const std::vector<std::string_view>& words);
// "it must be mpi or ray; did you mean 'ray'?"; `near` may be "".
std::string expected(std::string_view choices, std::string_view near);

// The word of `node` in lower case: as on Azure, upper and lower case are the same. `words_path` is
// the key's path in the table ("outputs.*.type"), `path` its path in the file
// ("outputs.model.type"). Returns unsupported for a word that is known and not supported yet.
Result<std::string> known_word(const Source& source, const YamlNode& node,
                               std::string_view words_path, std::string_view path);

}  // namespace lockstep::spec
