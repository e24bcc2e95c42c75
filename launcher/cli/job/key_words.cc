#include "launcher/cli/job/key_words.h"

#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

namespace lockstep::cli {

namespace {

constexpr std::string_view kOfFile = " in a job file";

// Keys of a job file, and the flag of `run` for each.
constexpr std::array<std::pair<std::string_view, std::string_view>, 28> kFlags{{
    {"limits.timeout", "--timeout"},
    {"lockstep.after", "--after"},
    {"lockstep.array", "--array"},
    {"lockstep.binding", "--binding"},
    {"lockstep.core", "--core"},
    {"lockstep.from_checkpoint_of", "--from-checkpoint-of"},
    {"lockstep.grace_period", "--grace"},
    {"lockstep.hang_after", "--hang-after"},
    {"lockstep.isolated", "--isolated"},
    {"lockstep.keep", "--keep"},
    {"lockstep.labels", "--label"},
    {"lockstep.limits.disk", "--disk-limit"},
    {"lockstep.limits.log", "--log-limit"},
    {"lockstep.limits.pids", "--pids-limit"},
    {"lockstep.nodes", "--nodelist"},
    {"lockstep.not_before", "--begin"},
    {"lockstep.on_hang", "--on-hang"},
    {"lockstep.project", "--project"},
    {"lockstep.rdma", "--rdma"},
    {"lockstep.resources.cpus", "--cpus"},
    {"lockstep.resources.gpus", "--gpus"},
    {"lockstep.resources.memory", "--memory"},
    {"lockstep.retry.max", "--retry"},
    {"lockstep.signal", "--signal"},
    {"resources.docker_args", "--docker-args"},
    {"resources.instance_count", "-N"},
    {"resources.instance_type", "--instance-type"},
    {"resources.shm_size", "--shm-size"},
}};

// A pair of flags and a key in a message: "FLAGS; KEY in a job file", "FLAGS, or KEY in a job file"
// or "FLAGS (KEY in a job file)".
struct Pair {
  std::size_t begin = 0, end = 0;  // range in the text, with its closing parenthesis
  std::string flags, key;
};

bool begins_flag(const std::string& text, std::size_t at) {
  return text[at] == '-' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
}

std::optional<Pair> pair_before(const std::string& text, std::size_t end) {
  constexpr std::array<std::string_view, 3> kBetween{"; ", ", or ", " ("};
  std::size_t at = std::string::npos;
  std::string_view between;
  for (const std::string_view one : kBetween) {
    const std::size_t found = text.rfind(one, end);
    if (found == std::string::npos || (at != std::string::npos && found < at)) continue;
    at = found;
    between = one;
  }
  if (at == std::string::npos) return std::nullopt;
  std::size_t begin = at;
  // Finds the beginning of the list of flags: after a parenthesis, or at the nearest flag.
  while (begin > 0 && text[begin - 1] != '(' && !begins_flag(text, begin)) --begin;
  while (begin > 3 && text.substr(0, begin).ends_with(", ")) {
    const std::size_t before = text.rfind(' ', begin - 3);
    const std::size_t word = before == std::string::npos ? 0 : before + 1;
    const std::size_t open = text[word] == '(' ? word + 1 : word;
    if (!begins_flag(text, open)) break;
    begin = open;
  }
  if (!begins_flag(text, begin) || text.substr(0, begin).ends_with(" or ")) return std::nullopt;
  Pair pair;
  pair.begin = begin;
  pair.flags = text.substr(begin, at - begin);
  pair.key = text.substr(at + between.size(), end - at - between.size());
  pair.end = end + kOfFile.size();
  const bool is_bracketed = between == " (";
  if (is_bracketed && pair.end < text.size() && text[pair.end] == ')') ++pair.end;
  return pair.key.find_first_of("();") == std::string::npos ? std::optional(pair) : std::nullopt;
}

template <typename Choose>
std::string with_chosen(std::string text, const Choose& choose) {
  std::size_t at = 0;
  while ((at = text.find(kOfFile, at)) != std::string::npos) {
    const auto pair = pair_before(text, at);
    if (!pair) {
      at += kOfFile.size();
      continue;
    }
    const std::string& chosen = choose(*pair);
    text.replace(pair->begin, pair->end - pair->begin, chosen);
    at = pair->begin + chosen.size();
  }
  return text;
}

bool is_of_key(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Whether a key stands alone: "lockstep.nodes" does not match in "lockstep.nodes.yml".
bool stands_alone(const std::string& text, std::size_t at, std::size_t size) {
  if (at > 0 && (is_of_key(text[at - 1]) || text[at - 1] == '.' || text[at - 1] == '/'))
    return false;
  const std::size_t end = at + size;
  if (end >= text.size()) return true;
  const bool goes_on = text[end] == '.' && end + 1 < text.size() && is_of_key(text[end + 1]);
  return !is_of_key(text[end]) && !goes_on && text.compare(end, kOfFile.size(), kOfFile) != 0;
}

}  // namespace

std::string with_flags(std::string text) {
  text = with_chosen(std::move(text),
                     [](const Pair& pair) -> const std::string& { return pair.flags; });
  for (const auto& [key, flag] : kFlags)
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
      if (stands_alone(text, at, key.size())) text.replace(at, key.size(), flag);
  return text;
}

std::string with_keys(std::string text) {
  return with_chosen(std::move(text),
                     [](const Pair& pair) -> const std::string& { return pair.key; });
}

}  // namespace lockstep::cli
