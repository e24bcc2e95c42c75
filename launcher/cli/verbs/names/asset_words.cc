#include "launcher/cli/verbs/names/asset_words.h"

#include <fmt/format.h>

namespace lockstep::cli {

Result<std::map<std::string, std::string>> tags_of(const std::vector<std::string>& words) {
  std::map<std::string, std::string> tags;
  for (const std::string& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("--tags: '{}' is not NAME=VALUE", word));
    tags[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return tags;
}

void say_what_stays(Context& context, const RegisteredAsset& asked, const RegisteredAsset& has) {
  if (asked.description == has.description && asked.tags == has.tags) return;
  context.terminal.print_line(
      fmt::format("{0} has these files already; its description and tags stay as they are; "
                  "`lockstep {1} update {0} --set tags.KEY=VALUE` changes them",
                  reference_of(has), to_string(kind_of(has))));
}

}  // namespace lockstep::cli
