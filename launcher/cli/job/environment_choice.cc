#include "launcher/cli/job/environment_choice.h"

#include "launcher/cli/terminal/output.h"
#include "launcher/files/environment/conda_lock.h"
#include "launcher/files/environment/environment_reference.h"
#include "launcher/files/job/docker_args_reader.h"
#include "launcher/files/yaml/named_text.h"

namespace lockstep::cli {

Result<spec::EnvironmentChoice> environment_named(const std::string& word,
                                                  const std::string& option, spec::Notes& notes) {
  constexpr std::string_view kFile = "file:";
  const bool marked = word.starts_with(kFile);
  if (marked || word == "-" || spec::looks_like_file(word)) {
    const auto file = spec::read_named_text(marked ? word.substr(kFile.size()) : word,
                                            Bytes{spec::kMaxCondaBytes});
    if (!file) return file.error().within(option);
    TRY_ASSIGN(
        auto environment,
        spec::load_environment(file->name, spec::with_text_of(*file, spec::read_text_file), notes));
    if (environment.build) TRY(spec::find_build(*environment.build));
    return spec::EnvironmentChoice(std::move(environment));
  }
  auto reference = spec::parse_environment_reference(word);
  if (!reference) return reference.error().within(option);
  return spec::EnvironmentChoice(
      spec::EnvironmentReference{*std::move(reference), option + " " + word});
}

void show(Terminal& terminal, const spec::Notes& notes) {
  for (const std::string& note : notes) terminal.print_line("note: " + in_one_line(note));
}

void show_ignored(Terminal& terminal, const JobSpec& spec) {
  for (const std::string_view key : spec::keys_without_container(spec))
    terminal.print_line("note: " + spec::ignored(key));
}

Result<ResolvedEnvironment> resolve(Connection& connection, const spec::EnvironmentChoice& choice) {
  if (const auto* content = std::get_if<spec::ReadEnvironment>(&choice))
    return ResolvedEnvironment{content->environment.spec, content->build};
  const auto& reference = std::get<spec::EnvironmentReference>(choice);
  auto reply = connection.ask_for<EnvironmentReply>(ShowEnvironment{reference.text});
  if (!reply) return reply.error().within(reference.where);
  return ResolvedEnvironment{std::move(reply->environment.environment.spec), std::nullopt};
}

}  // namespace lockstep::cli
