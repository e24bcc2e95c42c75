#include "common/snapshot/ignore/ignore.h"

#include <algorithm>

#include "common/snapshot/ignore/glob_class.h"

namespace lockstep::snapshot {
namespace {

constexpr std::string_view kSpecial = "*?[\\";

// Removes trailing blanks, unless a backslash precedes them. Tabs stay.
std::string_view without_trailing_blanks(std::string_view line) {
  std::size_t keep = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
      keep = std::min(i + 1, line.size());
    } else if (line[i] != ' ') {
      keep = i + 1;
    }
  }
  return line.substr(0, keep);
}

IgnorePattern parse_pattern(std::string_view text, int number) {
  IgnorePattern pattern;
  pattern.text = text;
  pattern.line = number;
  if (text.starts_with('!')) {
    pattern.negative = true;
    text.remove_prefix(1);
  }
  if (text.ends_with('/')) {
    pattern.only_directories = true;
    text.remove_suffix(1);
  }
  pattern.base_name_only = text.find('/') == text.npos;
  if (text.starts_with('/')) text.remove_prefix(1);
  pattern.glob = text;
  pattern.literal = std::min(text.find_first_of(kSpecial), text.size());
  pattern.suffix = text.starts_with('*') && text.find_first_of(kSpecial, 1) == text.npos;
  return pattern;
}

bool base_name_matches(const IgnorePattern& pattern, std::string_view name) {
  const std::string_view glob = pattern.glob;
  if (pattern.literal == glob.size()) return glob == name;
  if (pattern.suffix) return name.ends_with(glob.substr(1));
  return glob_matches(glob, name, false);
}

// Matches a path. The literal beginning is compared first and removed from both, as git does:
// "a**/b" is read as "a", then "**/b".
bool path_matches(const IgnorePattern& pattern, std::string_view path) {
  const std::string_view glob = pattern.glob;
  if (!path.starts_with(glob.substr(0, pattern.literal))) return false;
  return glob_matches(glob.substr(pattern.literal), path.substr(pattern.literal), true);
}

// Matches one glob against one text: a depth-first search that remembers failures, so that many
// stars do not make it exponential.
class Matcher {
 public:
  Matcher(std::string_view glob, std::string_view text, bool stars_stop_at_slash)
      : glob_(glob), text_(text), stop_(stars_stop_at_slash) {
    if (std::count(glob.begin(), glob.end(), '*') > 2) {
      failed_.resize((glob.size() + 1) * (text.size() + 1));
    }
  }

  bool run(std::size_t g, std::size_t t) {
    for (; g < glob_.size(); ++t) {
      if (glob_[g] == '*') return star(g, t);
      if (t == text_.size() || !one(g, text_[t])) return false;
    }
    return t == text_.size();
  }

 private:
  // Matches one character other than a star, and moves `g` past it.
  bool one(std::size_t& g, char c) {
    const bool blocked = stop_ && c == '/';
    switch (glob_[g]) {
      case '?': ++g; return !blocked;
      case '[': {
        const auto verdict = match_class(glob_, g, c);
        return verdict && *verdict && !blocked;
      }
      case '\\':
        if (++g == glob_.size()) return false;
        return glob_[g++] == c;
      default: return glob_[g++] == c;
    }
  }

  bool star(std::size_t g, std::size_t t) {
    if (!failed_.empty() && failed_[g * (text_.size() + 1) + t]) return false;
    const bool matched = try_star(g, t);
    if (!matched && !failed_.empty()) failed_[g * (text_.size() + 1) + t] = true;
    return matched;
  }

  bool try_star(std::size_t g, std::size_t t) {
    std::size_t after = glob_.find_first_not_of('*', g);
    if (after == glob_.npos) after = glob_.size();
    const bool after_slash = g == 0 || glob_[g - 1] == '/';
    const std::string_view rest = glob_.substr(after);
    const bool before_slash = rest.empty() || rest[0] == '/' || rest.starts_with("\\/");
    const bool is_deep = !stop_ || (after - g >= 2 && after_slash && before_slash);
    // "**/" may also match nothing.
    const bool is_named_deep = stop_ && is_deep;
    if (is_named_deep && rest.starts_with('/') && run(after + 1, t)) return true;
    for (;; ++t) {
      if (run(after, t)) return true;
      if (t == text_.size() || (!is_deep && text_[t] == '/')) return false;
    }
  }

  std::string_view glob_, text_;
  bool stop_;
  std::vector<bool> failed_;
};

}  // namespace

bool glob_matches(std::string_view glob, std::string_view text, bool stars_stop_at_slash) {
  return Matcher(glob, text, stars_stop_at_slash).run(0, 0);
}

IgnoreFile::IgnoreFile(std::string source, std::string base, std::string_view content)
    : source_(std::move(source)), base_(std::move(base)) {
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  for (int number = 1; !content.empty(); ++number) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = line.substr(0, line.find('\0'));
    if (line.empty() || line[0] == '#') continue;
    line = without_trailing_blanks(line);
    IgnorePattern pattern = parse_pattern(line, number);
    if (!pattern.glob.empty()) patterns_.push_back(std::move(pattern));
  }
}

const IgnorePattern* IgnoreFile::match(std::string_view path, bool is_directory) const {
  const std::string_view below = path.substr(base_.size());
  const std::string_view name = below.substr(below.rfind('/') + 1);
  for (auto pattern = patterns_.rbegin(); pattern != patterns_.rend(); ++pattern) {
    if (pattern->only_directories && !is_directory) continue;
    const bool matches =
        pattern->base_name_only ? base_name_matches(*pattern, name) : path_matches(*pattern, below);
    if (matches) return &*pattern;
  }
  return nullptr;
}

}  // namespace lockstep::snapshot
