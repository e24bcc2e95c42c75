#include "launcher/cli/last_job.h"

#include <algorithm>

namespace lockstep::cli {

namespace {

constexpr std::string_view kWord = "@last";

// Where the word stands as the whole of a name; npos: nowhere.
std::size_t find_word(const std::string& text, std::size_t from) {
  for (auto at = text.find(kWord, from); at != std::string::npos; at = text.find(kWord, at + 1)) {
    const bool begins =
        at == 0 || text[at - 1] == ',' || (text.starts_with("-") && text.find('=') == at - 1);
    const auto end = at + kWord.size();
    if (begins &&
        (end == text.size() || std::string_view(",:/").find(text[end]) != std::string_view::npos))
      return at;
  }
  return std::string::npos;
}

// The words of ours: behind "--" stands a command, and in `run` a command may stand without it.
std::vector<std::string>::const_iterator end_of_ours(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const bool is_run = !words.empty() && words.front() == "run";
  return is_run && dashes == words.end() ? words.begin() : dashes;
}

}  // namespace

bool names_last_job(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), end_of_ours(words), [](const std::string& word) {
    return find_word(word, 0) != std::string::npos;
  });
}

std::vector<std::string> with_last_job(std::vector<std::string> words, const std::string& name) {
  const auto count = end_of_ours(words) - words.begin();
  for (auto word = words.begin(); word != words.begin() + count; ++word)
    for (auto at = find_word(*word, 0); at != std::string::npos;
         at = find_word(*word, at + name.size()))
      word->replace(at, kWord.size(), name);
  return words;
}

Result<std::string> last_job(const Context& context) {
  TRY_ASSIGN(Connection* const connection, context.connect(Context::Need::launcher));
  ListJobs newest;
  newest.limit = 1;
  newest.filter.mine = true;
  newest.filter.archived = ArchivedToo::yes;
  TRY_ASSIGN(const JobsReply reply, connection->ask_for<JobsReply>(newest));
  if (reply.jobs.empty())
    return make_error(ErrorCode::not_found, "@last: you have submitted no job yet");
  return reply.jobs.front().spec.name;
}

}  // namespace lockstep::cli
