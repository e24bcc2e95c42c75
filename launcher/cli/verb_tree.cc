#include "launcher/cli/verb_tree.h"

#include "launcher/cli/all_verbs.h"

namespace lockstep::cli {

VerbTree::VerbTree() : app_("", "lockstep") { add_verbs({app_, action_, command_, {}, {}, true}); }

std::vector<const CLI::App*> verbs_below(const CLI::App& group) {
  return group.get_subcommands([](const CLI::App* verb) { return !verb->get_name().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& verb) {
  return verb.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<std::string> choices_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type.erase(0, type.rfind(':') + 1);  // CLI11 puts the check's own description after it
  std::vector<std::string> words;
  if (type.find('|') == std::string::npos) return words;
  for (std::size_t begin = 0; begin <= type.size();) {
    const auto end = std::min(type.find('|', begin), type.size());
    words.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace lockstep::cli
