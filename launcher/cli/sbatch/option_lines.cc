#include "launcher/cli/sbatch/option_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/base/split_words.h"

namespace lockstep::cli {

namespace {

constexpr std::string_view kOutput =
    "the output of each rank is kept with the job; `lockstep job logs NAME` shows it";

constexpr std::array kOptions = std::to_array<SbatchOption>({
    {"nodes", 'N', true, SbatchUse::nodes},
    {"ntasks", 'n', true, SbatchUse::ntasks},
    {"ntasks-per-node", '\0', true, SbatchUse::ntasks_per_node},
    {"tasks-per-node", '\0', true, SbatchUse::ntasks_per_node},
    {"cpus-per-task", 'c', true, SbatchUse::cpus_per_task},
    {"mem", '\0', true, SbatchUse::mem},
    {"mem-per-cpu", '\0', true, SbatchUse::mem_per_cpu},
    {"gres", '\0', true, SbatchUse::gres},
    {"gpus", 'G', true, SbatchUse::gpus},
    {"gpus-per-node", '\0', true, SbatchUse::gpus_per_node},
    {"gpus-per-task", '\0', true, SbatchUse::gpus_per_task},
    {"time", 't', true, SbatchUse::time},
    {"job-name", 'J', true, SbatchUse::job_name},
    {"partition", 'p', true, SbatchUse::partition},
    {"nodelist", 'w', true, SbatchUse::nodelist},
    {"exclusive", '\0', false, SbatchUse::exclusive},
    {"requeue", '\0', false, SbatchUse::requeue},
    {"no-requeue", '\0', false, SbatchUse::no_requeue},
    {"export", '\0', true, SbatchUse::export_variables},
    {"dependency", 'd', true, SbatchUse::dependency},
    {"begin", 'b', true, SbatchUse::begin},
    {"signal", '\0', true, SbatchUse::signal},
    {"output", 'o', true, SbatchUse::said, kOutput},
    {"error", 'e', true, SbatchUse::said, kOutput},
    {"open-mode", '\0', true, SbatchUse::said, kOutput},
    {"chdir", 'D', true, SbatchUse::said,
     "the job runs in a copy of the source directory, which --code names"},
    {"constraint", 'C', true, SbatchUse::said, "name labels of nodes with --label KEY=VALUE"},
    {"priority", '\0', true, SbatchUse::said, "use --priority low, medium or high"},
    {"nice", '\0', false, SbatchUse::said, "use --priority low, medium or high"},
    {"qos", 'q', true, SbatchUse::said, "use --priority low, medium or high"},
    {"account", 'A', true, SbatchUse::said, "use --project NAME"},
    {"mail-type", '\0', true, SbatchUse::said, "Lockstep sends no mail"},
    {"mail-user", '\0', true, SbatchUse::said, "Lockstep sends no mail"},
    {"wait", 'W', false, SbatchUse::none},
    {"parsable", '\0', false, SbatchUse::none},
    {"get-user-env", '\0', false, SbatchUse::said,
     "the ranks have a login's variables and no others"},
    {"overcommit", 'O', false, SbatchUse::said, "ranks may outnumber cpus"},
    {"contiguous", '\0', false, SbatchUse::said, "Lockstep chooses the nodes"},
    {"hold", 'H', false, SbatchUse::said, "use --begin TIME"},
    {"array", 'a', true, SbatchUse::array},
    {"wrap", '\0', true, SbatchUse::refused, "give the command after --, without --sbatch"},
});

const SbatchOption* find_option(std::string_view name) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const SbatchOption& one) { return one.name == name; });
  return found == kOptions.end() ? nullptr : &*found;
}

const SbatchOption* find_option(char letter) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const SbatchOption& one) { return one.letter == letter; });
  return found == kOptions.end() ? nullptr : &*found;
}

// The words of a #SBATCH line, up to a comment. A quoted '#' begins no comment.
Result<std::vector<std::string>> words_of(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && i > 0 && (line[i - 1] == ' ' || line[i - 1] == '\t')) {
      line = line.substr(0, i);
    }
  }
  return split_words(line);
}

// The options of a script, in its order.
class Lines {
 public:
  Lines(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  Result<std::vector<SbatchSetting>> read() {
    int number = 0;
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      std::string_view line = std::string_view(text_).substr(begin, end - begin);
      begin = end + 1;
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == line.npos) continue;
      // As in sbatch, options after the first command are ignored.
      if (!line.starts_with('#')) break;
      if (!line.starts_with("#SBATCH") || line.size() < 8 || (line[7] != ' ' && line[7] != '\t'))
        continue;
      line.remove_prefix(8);
      auto words = words_of(line);
      if (!words) return words.error().within(fmt::format("{}:{}", quoted_name(file_), number));
      TRY(take(*words, number));
    }
    return std::move(settings_);
  }

 private:
  Status take(const std::vector<std::string>& words, int line) {
    if (!words.empty() && words[0] == "hetjob")
      return make_error(
          ErrorCode::unsupported,
          fmt::format("{}:{}: heterogeneous jobs are not supported", quoted_name(file_), line));
    for (std::size_t i = 0; i < words.size(); ++i) {
      SbatchSetting setting = named(words[i]);
      setting.line = line;
      const bool has_value = setting.name.size() < words[i].size();
      const bool is_word = i + 1 < words.size() && !words[i + 1].starts_with('-');
      const bool wants_value = setting.option == nullptr ? is_word : setting.option->takes_value;
      if (!has_value && wants_value) {
        if (i + 1 == words.size())
          return make_error(ErrorCode::invalid_argument,
                            fmt::format("{}:{}: {} needs a value, and nothing follows it",
                                        quoted_name(file_), line, quoted_name(setting.name)));
        setting.value = words[++i];
      }
      settings_.push_back(std::move(setting));
    }
    return {};
  }

  // "--name=value", "--name", "-Nvalue" or "-N". The name stays as written.
  static SbatchSetting named(const std::string& word) {
    SbatchSetting setting;
    if (word.starts_with("--")) {
      const auto equals = word.find('=');
      setting.name = word.substr(0, equals);
      setting.option = find_option(std::string_view(setting.name).substr(2));
      if (equals != word.npos) setting.value = word.substr(equals + 1);
    } else if (word.starts_with('-') && word.size() > 1) {
      setting.name = word.substr(0, 2);
      setting.option = find_option(word[1]);
      setting.value = word.substr(2);
      if (setting.value.starts_with('=')) setting.value.erase(0, 1);
    } else {
      setting.name = word;
    }
    return setting;
  }

  const std::string& file_;
  const std::string& text_;
  std::vector<SbatchSetting> settings_;
};

}  // namespace

Result<std::vector<SbatchSetting>> read_sbatch_lines(const std::string& file,
                                                     const std::string& text) {
  return Lines(file, text).read();
}

}  // namespace lockstep::cli
