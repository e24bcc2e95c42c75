#include "launcher/cli/scripts/called_programs.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lockstep::cli {

namespace {

using Words = std::vector<std::string>;

constexpr int kMostShells = 4;  // the deepest nesting of shells

bool is_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Splits shell lines into simple commands, including those in $(…), (…) and `…`.
class Splitter {
 public:
  explicit Splitter(std::string_view lines) : lines_(lines) { levels_.emplace_back(); }

  std::vector<Words> split() {
    while (at_ < lines_.size()) take(lines_[at_]);
    while (!levels_.empty()) close();
    return std::move(commands_);
  }

 private:
  // An open level: the whole text, or something in brackets or backquotes.
  struct Level {
    Words words;
    std::string word;
    bool has_word = false;
    bool is_quoted = false;  // within "…"
    char until = '\0';
  };

  Level& now() { return levels_.back(); }
  bool substitutes() const { return lines_.substr(at_).starts_with("$("); }

  void add(std::string_view text) {
    now().word += text;
    now().has_word = true;
  }
  void end_word() {
    if (now().has_word) now().words.push_back(std::move(now().word));
    now().word.clear();
    now().has_word = false;
  }
  void end_command() {
    end_word();
    if (!now().words.empty()) commands_.push_back(std::move(now().words));
    now().words.clear();
  }
  void open(char until) {
    levels_.emplace_back();
    now().until = until;
  }
  void close() {
    end_command();
    levels_.pop_back();
  }
  void take_escaped() {
    const std::string_view next = lines_.substr(at_ + 1, 1);
    if (next != "\n") add(next);  // otherwise the line continues on the next one
    at_ += 2;
  }
  void take_literal() {
    const std::size_t end = lines_.find('\'', at_ + 1);
    add(lines_.substr(at_ + 1, end == lines_.npos ? end : end - at_ - 1));
    at_ = end == lines_.npos ? lines_.size() : end + 1;
  }

  void take(char c) {
    if (c == '\\') return take_escaped();
    if (substitutes()) {
      at_ += 2;
      return open(')');
    }
    if (c == '\'' && !now().is_quoted) return take_literal();
    if (c == '#' && !now().is_quoted && !now().has_word) {
      at_ = std::min(lines_.find('\n', at_), lines_.size());
      return;
    }
    ++at_;
    if (c == '`') return now().until == '`' ? close() : open('`');
    if (c == '"') {
      now().is_quoted = !now().is_quoted;
      return add("");
    }
    if (now().is_quoted) return add(std::string_view(&c, 1));
    if (is_blank(c)) return end_word();
    if (c == ')') return now().until == ')' ? close() : end_command();
    if (c == '(') return open(')');
    if (c == ';' || c == '&' || c == '|' || c == '\n') return end_command();
    add(std::string_view(&c, 1));
  }

  const std::string_view lines_;
  std::size_t at_ = 0;
  std::vector<Level> levels_;
  std::vector<Words> commands_;
};

// A program that starts the program which its arguments name.
struct Starter {
  std::string_view name;
  std::string_view with_value;  // the one-letter options whose value is the next word
  int words = 0;                // the number of its own arguments before the program
};
constexpr std::array kStarters = std::to_array<Starter>({{"env", "uC"},
                                                         {"time", "fo"},
                                                         {"nice", "n"},
                                                         {"nohup", ""},
                                                         {"exec", "a"},
                                                         {"command", ""},
                                                         {"eval", ""},
                                                         {"sudo", "ugCDhpRT"},
                                                         {"timeout", "ks", 1},
                                                         {"stdbuf", "ioe"},
                                                         {"setsid", ""},
                                                         {"ionice", "cnp"},
                                                         {"taskset", "", 1},
                                                         {"numactl", "NCmipa"}});
constexpr std::array<std::string_view, 9> kKeywords{"if",    "then",  "do", "else", "elif",
                                                    "while", "until", "!",  "{"};
constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "zsh", "ksh"};

std::string_view without_path(std::string_view word) { return word.substr(word.rfind('/') + 1); }

bool is_setting(std::string_view word) {
  const auto equals = word.find('=');
  return equals != word.npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_of_name);
}

// The index of the first word after the starter's options and own arguments.
std::size_t behind(const Starter& starter, const Words& words, std::size_t at) {
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& option = words[at];
    if (option == "--") {
      ++at;
      break;
    }
    if (option.size() == 2 && starter.with_value.find(option[1]) != starter.with_value.npos) ++at;
  }
  return at + static_cast<std::size_t>(starter.words);
}

// The index of the program that finally runs; words.size(): none.
std::size_t program_in(const Words& words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const std::string_view name = without_path(words[at]);
    const bool is_keyword = std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end();
    const auto starter = std::find_if(kStarters.begin(), kStarters.end(),
                                      [&](const Starter& one) { return one.name == name; });
    if (is_keyword || is_setting(words[at]))
      ++at;
    else if (starter != kStarters.end())
      at = behind(*starter, words, at + 1);
    else
      return at;
  }
  return words.size();
}

// The text after a shell's -c; nullptr: none.
const std::string* script_in(const Words& words, std::size_t shell) {
  for (std::size_t at = shell + 1; at + 1 < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& option = words[at];
    if (!option.starts_with("--") && option.find('c') != option.npos) return &words[at + 1];
    if (option.ends_with('o')) ++at;  // the value of -o, such as pipefail
  }
  return nullptr;
}

bool is_python(std::string_view name) {
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == name.npos;
}

// Whether the words after python's own options begin with -m and the module; -W and -X take a
// value.
bool runs_module(const Words& words, std::size_t at, std::string_view module) {
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& option = words[at];
    if (option.ends_with('m') && !option.starts_with("--"))
      return at + 1 < words.size() && words[at + 1] == module;
    if (option == "-W" || option == "-X") ++at;
  }
  return false;
}

bool is_called(const Words& words, std::size_t at, std::string_view program) {
  constexpr std::string_view kModule = "python -m ";
  const std::string_view name = without_path(words[at]);
  if (program.starts_with(kModule))
    return is_python(name) && runs_module(words, at + 1, program.substr(kModule.size()));
  const std::size_t space = program.find(' ');
  if (name != program.substr(0, space)) return false;
  return space == program.npos ||
         (at + 1 < words.size() && words[at + 1] == program.substr(space + 1));
}

bool calls_within(std::string_view lines, std::string_view program, int shells);

bool runs_within(const Words& words, std::string_view program, int shells) {
  const std::size_t at = program_in(words);
  if (at >= words.size()) return false;
  if (is_called(words, at, program)) return true;
  const std::string_view name = without_path(words[at]);
  const bool is_shell = std::find(kShells.begin(), kShells.end(), name) != kShells.end();
  if (!is_shell || shells == 0) return false;
  const std::string* script = script_in(words, at);
  return script != nullptr && calls_within(*script, program, shells - 1);
}

bool calls_within(std::string_view lines, std::string_view program, int shells) {
  const auto commands = Splitter(lines).split();
  return std::any_of(commands.begin(), commands.end(),
                     [&](const Words& words) { return runs_within(words, program, shells); });
}

}  // namespace

bool calls(std::string_view lines, std::string_view program) {
  return calls_within(lines, program, kMostShells);
}

bool runs(const std::vector<std::string>& words, std::string_view program) {
  return runs_within(words, program, kMostShells);
}

bool is_shell_script(std::string_view file, std::string_view text) {
  if (!text.starts_with("#!"))
    return file.ends_with(".sh") || file.ends_with(".bash") || file.ends_with(".sbatch");
  const std::string_view line = text.substr(2, text.find('\n') - 2);
  const auto commands = Splitter(line).split();
  if (commands.empty()) return false;
  const std::size_t at = program_in(commands.front());
  return at < commands.front().size() &&
         std::find(kShells.begin(), kShells.end(), without_path(commands.front()[at])) !=
             kShells.end();
}

}  // namespace lockstep::cli
