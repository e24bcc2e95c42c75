#include "launcher/cli/sbatch/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/base/quoted_name.h"
#include "common/base/split_words.h"

namespace lockstep::cli {

namespace {

constexpr std::array<std::string_view, 7> kInterpreters = {"bash", "sh",     "dash",   "zsh",
                                                           "ksh",  "python", "python3"};

}  // namespace

Result<std::vector<std::string>> interpreter_of(const std::string& file, const std::string& text) {
  const Error refused = make_error(
      ErrorCode::invalid_argument,
      fmt::format("{}:1: the first line must name an interpreter: #!/bin/bash (also sh, dash, zsh, "
                  "ksh, python, python3)",
                  quoted_name(file)));
  if (!text.starts_with("#!")) return refused;
  auto words = split_words(text.substr(2, text.find('\n') - 2));
  if (!words || words->empty()) return refused;
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  (*words)[0] = base((*words)[0]);
  if ((*words)[0] == "env" && words->size() > 1) words->erase(words->begin());
  const bool is_known =
      std::find(kInterpreters.begin(), kInterpreters.end(), (*words)[0]) != kInterpreters.end();
  if (!is_known) return refused;
  return words;
}

}  // namespace lockstep::cli
