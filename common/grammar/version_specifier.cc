#include "common/grammar/version_specifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

namespace lockstep::spec {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_separator(char c) { return c == '-' || c == '_' || c == '.'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The pattern in the appendix of PEP 440: v? EPOCH! RELEASE PRE POST DEV +LOCAL, or .* at an end.
class Version {
 public:
  explicit Version(std::string_view text) : text_(lower(text)) { good_ = read(); }

  bool is_good() const { return good_; }
  bool has_wildcard() const { return has_wildcard_; }
  bool has_local() const { return has_local_; }
  int numbers() const { return numbers_; }  // the count of numbers in its release

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool is_done() const { return at_ == text_.size(); }

  bool take_digits() {
    const std::size_t from = at_;
    while (is_digit(at(at_))) ++at_;
    return at_ > from;
  }

  bool take_release() {
    if (!take_digits()) return false;
    for (numbers_ = 1; at(at_) == '.' && is_digit(at(at_ + 1)); ++numbers_) {
      ++at_;
      take_digits();
    }
    return true;
  }

  // Takes a part such as "rc1", ".post2" or "-dev"; its number may be missing.
  bool take_part(std::initializer_list<std::string_view> words) {
    const std::size_t from = at_ + (is_separator(at(at_)) ? 1 : 0);
    for (const std::string_view word : words) {
      if (text_.compare(from, word.size(), word) != 0) continue;
      at_ = from + word.size();
      const bool goes_on = is_digit(at(at_ + 1)) || at_ + 1 == text_.size();
      if (is_separator(at(at_)) && goes_on) ++at_;
      take_digits();
      return true;
    }
    return false;
  }

  void take_post() {
    if (at(at_) == '-' && is_digit(at(at_ + 1))) {
      ++at_;
      take_digits();
    } else {
      take_part({"post", "rev", "r"});
    }
  }

  bool take_local() {
    if (at(at_) != '+') return true;
    has_local_ = true;
    do {
      const std::size_t from = ++at_;
      while (is_letter_or_digit(at(at_))) ++at_;
      if (at_ == from) return false;
    } while (is_separator(at(at_)));
    return true;
  }

  bool read() {
    if (at(0) == 'v') ++at_;
    if (!take_release()) return false;
    if (numbers_ == 1 && at(at_) == '!') {
      ++at_;
      if (!take_release()) return false;
    }
    take_part({"alpha", "beta", "preview", "pre", "rc", "a", "b", "c"});
    take_post();
    has_wildcard_ = std::string_view(text_).substr(at_) == ".*";
    if (has_wildcard_) return true;
    take_part({"dev"});
    return take_local() && is_done();
  }

  const std::string text_;
  std::size_t at_ = 0;
  int numbers_ = 0;
  bool has_wildcard_ = false;
  bool has_local_ = false;
  bool good_ = false;
};

}  // namespace

std::string fault_of_operator(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords{"==", "!=", ">=", "<=", ">", "<", "~=", "==="};
  if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return "";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kMeant{{
      {"=", "=="},
      {"=>", ">="},
      {"=<", "<="},
      {"!", "!="},
      {"<>", "!="},
      {"~", "~="},
      {"~>", "~="},
  }};
  for (const auto& [wrong, right] : kMeant)
    if (word == wrong) return fmt::format("'{}' is not an operator; write {}", word, right);
  return fmt::format("'{}' is not an operator; the operators are == != >= <= > < ~= ===", word);
}

std::string fault_of_version(std::string_view word, std::string_view version) {
  if (version.empty()) return fmt::format("no version follows '{}'", word);
  const Version read(version);
  if (!read.is_good())
    return fmt::format("'{}' is not a version; write, for example, 1.26 or >=1.22,<2", version);
  const bool is_equality = word == "==" || word == "!=";
  if (read.has_wildcard() && !is_equality)
    return fmt::format("'{0}{1}': '.*' is allowed only after == and !=; write {0}{2}", word,
                       version, version.substr(0, version.size() - 2));
  if (read.has_local() && !is_equality)
    return fmt::format(
        "'{0}{1}': a local version ('+…') is allowed only after == and !=; write {0}{2}", word,
        version, version.substr(0, version.find('+')));
  if (word == "~=" && read.numbers() < 2)
    return fmt::format("'~={0}' needs at least two numbers; write ~={0}.0, or >={0}", version);
  return "";
}

}  // namespace lockstep::spec
