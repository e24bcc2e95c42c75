#include "common/domain/job/keep.h"

#include <algorithm>
#include <string_view>

#include "common/base/quoted_name.h"

namespace lockstep {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

// The fault in one name of a path; "": it has none.
std::string fault_of_name(std::string_view name) {
  if (name == "." || name == "..")
    return "'" + std::string(name) +
           "' is not a file name; write paths from the working directory on, such as "
           "/checkpoints/last.pt";
  if (name.empty()) return "it has '//'; write a single '/'";
  return "";
}

// The end of the class that begins at `from`; npos: it does not end. A ']' at its beginning is a
// member.
std::size_t end_of_class(std::string_view glob, std::size_t from) {
  std::size_t at = from + 1;
  if (at < glob.size() && (glob[at] == '!' || glob[at] == '^')) ++at;
  if (at < glob.size() && glob[at] == ']') ++at;
  while (at < glob.size() && glob[at] != ']') at += glob[at] == '\\' ? 2 : 1;
  return at < glob.size() ? at : glob.npos;
}

bool has_open_class(std::string_view glob) {
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\') {
      ++i;  // the escaped character is literal
    } else if (glob[i] == '[') {
      i = end_of_class(glob, i);
      if (i == glob.npos) return true;
    }
  }
  return false;
}

std::size_t stars_of(std::string_view glob) {
  std::size_t stars = 0;
  for (std::size_t i = 0; i < glob.size(); ++i)
    if (glob[i] == '*' && (i == 0 || glob[i - 1] != '*')) ++stars;
  return stars;
}

bool ends_in_backslash(std::string_view glob) {
  const auto last = glob.find_last_not_of('\\');
  const std::size_t count = glob.size() - (last == glob.npos ? 0 : last + 1);
  return count % 2 == 1;
}

}  // namespace

std::string fault_of_keep(const std::string& pattern) {
  if (pattern.size() > kMaxKeepPatternBytes)
    return "it has " + std::to_string(pattern.size()) + " bytes; at most " +
           std::to_string(kMaxKeepPatternBytes) + " are possible";
  if (std::any_of(pattern.begin(), pattern.end(), is_control))
    return "it holds a control character";
  if (pattern.starts_with('#'))
    return "a pattern that begins with '#' is a comment; write \\# for a name that begins with '#'";
  std::string_view glob = pattern;
  if (glob.starts_with('!')) glob.remove_prefix(1);
  if (glob.find_first_not_of(" /") == glob.npos)
    return "it names nothing; write a name, such as model.pt, *.pt or checkpoints/";
  if (glob.starts_with('/')) glob.remove_prefix(1);
  if (glob.ends_with('/')) glob.remove_suffix(1);
  for (std::size_t from = 0; from <= glob.size();) {
    const auto slash = std::min(glob.find('/', from), glob.size());
    std::string fault = fault_of_name(glob.substr(from, slash - from));
    if (!fault.empty()) return fault;
    from = slash + 1;
  }
  if (const std::size_t stars = stars_of(glob); stars > kMaxKeepStars)
    return "it has " + std::to_string(stars) + " stars; at most " + std::to_string(kMaxKeepStars) +
           " are possible";
  if (has_open_class(glob)) return "its '[' has no ']'; write \\[ for the character itself";
  if (ends_in_backslash(glob)) return "nothing follows its last backslash";
  return "";
}

Status validate_keep(const std::vector<std::string>& patterns) {
  const auto invalid = [](const std::string& message) {
    return make_error(ErrorCode::invalid_argument, "lockstep.keep: " + message);
  };
  if (patterns.size() > kMaxKeepPatterns)
    return invalid("there are " + std::to_string(patterns.size()) + " patterns; at most " +
                   std::to_string(kMaxKeepPatterns) + " are possible");
  for (const std::string& pattern : patterns)
    if (const std::string fault = fault_of_keep(pattern); !fault.empty())
      return invalid("pattern " + quoted_name(pattern.substr(0, 100)) + ": " + fault);
  const bool takes_any =
      std::any_of(patterns.begin(), patterns.end(), [](const auto& p) { return p[0] != '!'; });
  if (!patterns.empty() && !takes_any)
    return invalid("nothing is kept: all patterns begin with '!'");
  return {};
}

}  // namespace lockstep
