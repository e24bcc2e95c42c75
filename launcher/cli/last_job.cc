#include "launcher/cli/last_job.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "launcher/cli/base/verb_table.h"

namespace lockstep::cli {

namespace {

constexpr std::string_view kWord = "@last";

// The position where the word is a whole name; npos: none.
std::size_t find_word(const std::string& text, std::size_t from) {
  for (auto at = text.find(kWord, from); at != std::string::npos; at = text.find(kWord, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ',';
    const auto end = at + kWord.size();
    if (begins &&
        (end == text.size() || std::string_view(",:/").find(text[end]) != std::string_view::npos))
      return at;
  }
  return std::string::npos;
}

bool takes_job(CLI::Option& option) {
  try {
    return option.get_validator(kJobName) != nullptr;
  } catch (const CLI::OptionNotFound&) {
    return false;
  }
}

}  // namespace

bool names_last_job(const std::string& text) { return find_word(text, 0) != std::string::npos; }

std::string with_last_job(std::string text, const std::string& name) {
  for (auto at = find_word(text, 0); at != std::string::npos;
       at = find_word(text, at + name.size()))
    text.replace(at, kWord.size(), name);
  return text;
}

void resolve_last_job(CLI::App& app, const std::string& name, bool& is_named) {
  for (CLI::App* const verb : app.get_subcommands([](CLI::App*) { return true; }))
    resolve_last_job(*verb, name, is_named);
  for (CLI::Option* const option : app.get_options())
    if (takes_job(*option))
      option->transform([name, &is_named](const std::string& text) {
        is_named = is_named || names_last_job(text);
        return name.empty() ? text : with_last_job(text, name);
      });
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
