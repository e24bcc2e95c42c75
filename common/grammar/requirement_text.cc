#include "common/grammar/requirement_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/base/nearest.h"
#include "common/grammar/version_specifier.h"

namespace lockstep::spec {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";
constexpr std::array<std::string_view, 18> kMarkerVariables{"python_version",
                                                            "python_full_version",
                                                            "os_name",
                                                            "os.name",
                                                            "sys_platform",
                                                            "sys.platform",
                                                            "platform_release",
                                                            "platform_system",
                                                            "platform_version",
                                                            "platform.version",
                                                            "platform_machine",
                                                            "platform.machine",
                                                            "platform_python_implementation",
                                                            "platform.python_implementation",
                                                            "python_implementation",
                                                            "implementation_name",
                                                            "implementation_version",
                                                            "extra"};
constexpr std::array<std::pair<std::string_view, std::size_t>, 3> kHashDigits{
    {{"sha256", 64}, {"sha384", 96}, {"sha512", 128}}};
// Options of a requirement that have a value.
constexpr std::array<std::string_view, 5> kOptions{"--hash", "--config-settings",
                                                   "--config-setting", "--global-option", "-C"};

bool is_blank(char c) { return kBlank.find(c) != std::string_view::npos; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_of_name(char c) { return is_word(c) || c == '.' || c == '-' || c == '_'; }
bool is_operator(char c) { return kVersionOperators.find(c) != std::string_view::npos; }

// The position of the first option in the text, as pip finds it; the end if there is none.
std::size_t options_begin(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '-' && is_blank(text[i - 1])) return i;
  return text.size();
}

// The functions that read return false if the text is wrong; then fault_ is set.
class Reader {
 public:
  explicit Reader(std::string_view line)
      : options_(line.substr(options_begin(line))),
        options_at_(line.size() - options_.size()),
        text_(line.substr(0, options_at_)) {
    while (!text_.empty() && is_blank(text_.back())) text_.remove_suffix(1);
  }

  std::optional<RequirementFault> check() {
    if (read_requirement()) read_options();
    return fault_;
  }

 private:
  bool wrong(std::size_t at, std::string message) {
    fault_ = RequirementFault{at, std::move(message)};
    return false;
  }

  // ---- what stands at at_ -----------------------------------------------------------------------

  bool is_done() const { return at_ >= text_.size(); }
  char next() const { return is_done() ? '\0' : text_[at_]; }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  void skip_blanks() {
    while (!is_done() && is_blank(next())) ++at_;
  }
  bool take(char c) {
    if (next() != c || is_done()) return false;
    ++at_;
    return true;
  }
  template <typename Holds>
  std::string_view take_while(const Holds& holds) {
    const std::size_t from = at_;
    while (!is_done() && holds(next())) ++at_;
    return text_.substr(from, at_ - from);
  }
  // Takes a name such as "numpy": letters, digits, and between them '.', '-' and '_'.
  std::string_view take_name() {
    if (!is_word(next())) return {};
    const std::size_t from = at_;
    take_while(is_of_name);
    while (!is_word(text_[at_ - 1])) --at_;
    return text_.substr(from, at_ - from);
  }

  // ---- a requirement ----------------------------------------------------------------------------

  bool is_bare_address() const {
    const auto colon = text_.find("://");
    return colon != std::string_view::npos &&
           std::all_of(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(colon),
                       [](char c) { return is_word(c) || c == '+' || c == '.' || c == '-'; });
  }

  bool read_requirement() {
    if (is_bare_address()) return read_address();
    const std::string_view name = take_name();
    if (name.empty()) return wrong(at_, "names no package; write NAME, or NAME==VERSION");
    skip_blanks();
    if (!read_extras()) return false;
    skip_blanks();
    if (take('@')) {
      skip_blanks();
      const std::string_view place = rest();
      if (place.substr(0, place.find_first_of(kBlank)).find("://") != std::string_view::npos)
        return read_address();
      return wrong(
          at_, place.empty()
                   ? std::string("no address follows '@'")
                   : fmt::format("'{0}' is not an address; write {1} @ https://…, or {1}==VERSION",
                                 place, name));
    }
    if (!read_versions()) return false;
    skip_blanks();
    if (is_done()) return true;
    if (take(';')) return read_marker();
    const bool is_version = std::isdigit(static_cast<unsigned char>(next()));
    return wrong(
        at_,
        is_version
            ? fmt::format("'{}' has no operator before it; write {}=={}", rest(), name, rest())
            : fmt::format("expected a version, ';' or the end of the line, found '{}'", rest()));
  }

  // Reads an address. It ends at a ';' beside a blank; other ';' belong to it.
  bool read_address() {
    const std::string_view address = take_while([](char c) { return !is_blank(c); });
    const bool ends = address.ends_with(';');
    skip_blanks();
    if (is_done() && !ends) return true;
    if (ends || take(';')) return read_marker();
    return wrong(at_,
                 fmt::format("only ' ;' and a marker may follow an address, found '{}'", rest()));
  }

  bool read_extras() {
    const std::size_t open = at_;
    if (!take('[')) return true;
    skip_blanks();
    if (take(']')) return true;
    for (;;) {
      skip_blanks();
      if (is_done()) return wrong(open, "'[' is never closed");
      const std::size_t from = at_;
      if (take_name().empty())
        return wrong(from, fmt::format("'{}' is not the name of an extra; write [a,b]", rest()));
      skip_blanks();
      if (take(']')) return true;
      if (is_done()) return wrong(open, "'[' is never closed");
      if (!take(',')) return wrong(at_, fmt::format("expected ',' or ']', found '{}'", rest()));
    }
  }

  bool read_versions() {
    const std::size_t open = at_;
    const bool is_closed = take('(');
    skip_blanks();
    while (is_operator(next())) {
      if (!read_version()) return false;
      skip_blanks();
      if (!take(',')) break;
      skip_blanks();
    }
    if (!is_closed || take(')')) return true;
    if (is_done()) return wrong(open, "'(' is never closed");
    return wrong(at_, fmt::format("expected ',' or ')', found '{}'", rest()));
  }

  bool read_version() {
    const std::size_t from = at_;
    const std::string_view word = take_while(is_operator);
    if (std::string fault = fault_of_operator(word); !fault.empty())
      return wrong(from, std::move(fault));
    skip_blanks();
    const std::size_t begin = at_;
    const bool is_any = word == "===";  // === accepts any version text
    const std::string_view version = take_while([&](char c) {
      const bool is_epoch = c == '!' && !rest().starts_with("!=");
      const bool ends = c == ',' || (is_operator(c) && !is_epoch);
      return !is_blank(c) && c != ';' && c != ')' && (is_any || !ends);
    });
    std::string fault;
    if (version.empty() || !is_any) fault = fault_of_version(word, version);
    return fault.empty() || wrong(version.empty() ? from : begin, std::move(fault));
  }

  // ---- a marker ---------------------------------------------------------------------------------

  // Reads a marker. The precedence of 'and' and 'or' does not matter here: any order of them is
  // valid.
  bool read_marker() {
    std::size_t depth = 0, open = 0;
    for (;;) {
      for (skip_blanks(); next() == '('; skip_blanks(), ++depth) open = at_++;
      if (!read_comparison()) return false;
      for (skip_blanks(); depth > 0 && take(')'); skip_blanks()) --depth;
      if (is_done()) return depth == 0 || wrong(open, "'(' is never closed");
      const std::size_t from = at_;
      const std::string_view word = take_while(is_of_name);
      if (word != "and" && word != "or")
        return wrong(from, fmt::format("expected 'and', 'or' or the end of the marker, found '{}'",
                                       text_.substr(from)));
    }
  }

  bool read_comparison() {
    if (!read_value()) return false;
    skip_blanks();
    const std::size_t from = at_;
    const std::string_view word =
        is_operator(next()) ? take_while(is_operator) : take_while(is_word);
    if (word == "not") {
      skip_blanks();
      if (take_while(is_word) != "in")
        return wrong(from, "'not' is not an operator; write 'not in'");
    } else if (word.empty() || is_word(word[0])) {
      if (word != "in")
        return wrong(from,
                     fmt::format("expected an operator (== != >= <= > < ~= in 'not in'), found {}",
                                 what_is_at(from)));
    } else if (std::string fault = fault_of_operator(word); !fault.empty()) {
      return wrong(from, std::move(fault));
    }
    skip_blanks();
    return read_value();
  }

  std::string what_is_at(std::size_t from) const {
    return from >= text_.size() ? "the end of the marker" : fmt::format("'{}'", text_.substr(from));
  }

  // Reads a value such as "python_version" or "'3.9'".
  bool read_value() {
    const std::size_t from = at_;
    if (next() == '\'' || next() == '"') {
      const auto end = text_.find(next(), at_ + 1);
      if (end == std::string_view::npos) return wrong(from, "a quote is never closed");
      at_ = end + 1;
      return true;
    }
    const std::string_view word = take_while(is_of_name);
    if (std::find(kMarkerVariables.begin(), kMarkerVariables.end(), word) != kMarkerVariables.end())
      return true;
    if (word.empty())
      return wrong(
          from, fmt::format("expected a name such as python_version or a value in quotes, found {}",
                            what_is_at(from)));
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0)
      return wrong(from, fmt::format("'{0}' is a value and needs quotes: \"{0}\"", word));
    const std::string near = nearest(word, kMarkerVariables);
    return wrong(from, fmt::format("'{}' is not a marker variable{}", word,
                                   near.empty() ? "; a value needs quotes"
                                                : fmt::format("; did you mean '{}'?", near)));
  }

  // ---- options behind it ------------------------------------------------------------------------

  // Takes the next word as a shell would split it, with its quotes; nullopt: no word is left.
  std::optional<std::string_view> take_option_word(std::size_t& at) const {
    while (at < options_.size() && is_blank(options_[at])) ++at;
    if (at == options_.size()) return std::nullopt;
    const std::size_t from = at;
    for (char quote = '\0'; at < options_.size() && (quote != '\0' || !is_blank(options_[at]));
         ++at) {
      const char c = options_[at];
      if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = '\0';
      }
    }
    return options_.substr(from, at - from);
  }

  bool read_options() {
    std::size_t at = 0;
    while (const auto word = take_option_word(at)) {
      const std::size_t place = options_at_ + at - word->size();
      const std::string_view name = word->substr(0, word->find('='));
      if (std::find(kOptions.begin(), kOptions.end(), name) == kOptions.end())
        return wrong(
            place,
            fmt::format("'{}' is not allowed after a requirement, only --hash, --config-settings "
                        "and --global-option are; write other options on lines of their own",
                        *word));
      std::optional<std::string_view> value;
      if (name.size() < word->size())
        value = word->substr(name.size() + 1);
      else
        value = take_option_word(at);
      if (!value || value->empty()) return wrong(place, fmt::format("{} needs a value", name));
      if (name == "--hash" && !read_hash(place, unquoted(*value))) return false;
    }
    return true;
  }

  static std::string_view unquoted(std::string_view text) {
    const bool is_quoted =
        text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
    return is_quoted ? text.substr(1, text.size() - 2) : text;
  }

  bool read_hash(std::size_t place, std::string_view value) {
    const auto colon = value.find(':');
    const std::string_view algorithm = value.substr(0, colon);
    const auto known = std::find_if(kHashDigits.begin(), kHashDigits.end(),
                                    [&](const auto& one) { return one.first == algorithm; });
    if (colon == std::string_view::npos || known == kHashDigits.end())
      return wrong(
          place,
          fmt::format("'{}' is not a hash; write --hash=sha256:HEX (or sha384, sha512)", value));
    const std::string_view digits = value.substr(colon + 1);
    if (digits.size() == known->second &&
        digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos)
      return true;
    return wrong(place,
                 fmt::format("'{}' is not a valid {}: exactly {} hexadecimal digits are expected",
                             digits, algorithm, known->second));
  }

  const std::string_view options_;
  const std::size_t options_at_;
  std::string_view text_;  // the text without options
  std::size_t at_ = 0;
  std::optional<RequirementFault> fault_;
};

}  // namespace

std::optional<RequirementFault> fault_of_requirement(std::string_view text) {
  return Reader(text).check();
}

}  // namespace lockstep::spec
