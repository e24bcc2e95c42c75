// `lockstep component create`: registers a component's file and the files that it names. The other
// verbs are shared with data and models.

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "launcher/api/json/asset.h"
#include "launcher/cli/job/environment_choice.h"
#include "launcher/cli/submit/component_store.h"
#include "launcher/cli/submit/submit.h"
#include "launcher/cli/verbs/names/asset_words.h"
#include "launcher/cli/verbs/names/registry_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kExamples = R"(
  lockstep component create -f train.yml
  lockstep component create -f train.yml --name train --version 3
The file, its code and all files that it names are kept by the launcher. A version never changes.
A step runs it with `component: azureml:train@latest` in a pipeline's file, and so does a job.)";

struct CreateOptions {
  std::string file, project;
  spec::ComponentOptions values;
  std::vector<std::string> tags;
  Format format = Format::table;
};

int create(Context& context, const CreateOptions& options) {
  spec::ComponentOptions values = options.values;
  auto tags = tags_of(options.tags);
  if (!tags) return fail(context.terminal, tags.error(), kExitUsage);
  values.tags = *std::move(tags);
  auto read = spec::load_component(options.file, values, component_finder(context));
  if (!read) return fail_with_all(context.terminal, read.error());
  show(context.terminal, read->notes);
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  if (const Status sent = send_component(context, **connection, *read); !sent)
    return fail(context.terminal, sent.error());
  const auto reply =
      (*connection)->ask_for<AssetReply>(CreateAsset{read->asset, options.project}, kSubmitTimeout);
  if (!reply) return fail(context.terminal, reply.error());
  const RegisteredAsset& has = reply->asset.asset;
  say_what_stays(context, read->asset, has);
  return print(context, options.format, api::to_json(reply->asset),
               fmt::format("{}:{}\n", has.name, has.version));
}

}  // namespace

void add_component_create_verb(CLI::App& group, VerbTable table) {
  const auto options = std::make_shared<CreateOptions>();
  CLI::App* const verb =
      table.add_below(group, "create", "register a component under a name and a version");
  if (verb == nullptr) return;
  verb->footer(kExamples);
  verb->add_option("-f,--file", options->file, "the component's file, as for az ml")
      ->required()
      ->check(filled("name the component's file"));
  const auto add_value = [&](const char* flags, const char* key, const std::string& what) {
    verb->add_option_function<std::string>(
        flags,
        [options, key](const std::string& text) { options->values.values.emplace_back(key, text); },
        what + " (overrides the file's)");
  };
  add_value("-n,--name", "name", "the name");
  add_value("-v,--version", "version", "the version; none: the next number");
  add_value("-d,--description", "description", "what it is");
  verb->add_option("--tags", options->tags, "NAME=VALUE; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--project", options->project,
                   "for a new name: the project whose members see it (default: the project of "
                   "which you are a submitter; if there is none or more than one, the project "
                   "'default')")
      ->check(filled("leave it out for your own"));
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return create(context, *options); };
  });
}

}  // namespace lockstep::cli
