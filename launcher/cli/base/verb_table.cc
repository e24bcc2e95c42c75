#include "launcher/cli/base/verb_table.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

namespace lockstep::cli {

void add_raw(CLI::App& verb, bool& raw) {
  verb.add_flag("--raw", raw,
                "on a terminal: pass control characters on, which may move the cursor, hide or "
                "replace text, or type");
}

void add_wait_anyway(CLI::App& verb, bool& wait_anyway) {
  verb.add_flag("--wait-anyway", wait_anyway,
                "wait for nodes also where no node of the target can ever run the job");
}

void add_links(CLI::App& verb, std::optional<snapshot::Links>& links) {
  verb.add_option_function<std::string>(
          "--links",
          [&links](const std::string& word) {
            if (word != "follow" && word != "keep")
              throw CLI::ValidationError("--links", "'" + word + "' is not follow or keep");
            links = word == "keep" ? snapshot::Links::keep : snapshot::Links::follow;
          },
          "symlinks that lead out of the source folder: follow (default) takes along what they "
          "lead to, keep the links")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("follow|keep");
}

void add_format(CLI::App& verb, Format& format, const char* what, std::vector<std::string>* outputs,
                bool* csv) {
  const auto typed = std::make_shared<bool>(false);
  const auto take = [&format, typed, csv](const std::string& word) {
    const bool is_csv = csv != nullptr && word == "csv";
    const auto known = is_csv ? std::optional(Format::table) : format_from(word);
    if (known) format = *known;
    if (known && csv != nullptr) *csv = is_csv;
    *typed = *typed || known;
    return known.has_value();
  };
  verb.add_option_function<std::string>(
          outputs == nullptr ? "-o,--output" : "-o",
          [take, csv](const std::string& word) {
            if (take(word)) return;
            const char* const words =
                csv == nullptr ? "table, json, yaml or tsv" : "table, json, yaml, tsv or csv";
            throw CLI::ValidationError("-o", "'" + word + "' is not " + words);
          },
          what)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name(csv == nullptr ? "table|json|yaml|tsv" : "table|json|yaml|tsv|csv");
  if (outputs != nullptr)
    verb.add_option_function<std::vector<std::string>>(
            "--output",
            [take, outputs](const std::vector<std::string>& words) {
              for (const std::string& word : words)
                if (!take(word)) outputs->push_back(word);
            },
            "NAME, or NAME=azureml://datastores/…, for ${{outputs.NAME}}; may be repeated; or a "
            "format, as for -o")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  // CLI11 calls the functions of options in the order in which the options were added.
  verb.add_option_function<std::string>(
          kQueryOption,
          [&format, typed, csv](const std::string& text) {
            if (csv != nullptr && *csv)
              throw CLI::ValidationError(kQueryOption, "goes with every format but csv");
            if (const auto good = jmespath::Expression::parse(text); !good)
              throw CLI::ValidationError(kQueryOption, good.error().message);
            if (format == Format::table) format = *typed ? Format::records : Format::json;
          },
          "print only what this JMESPath expression selects; as JSON unless -o says otherwise")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("JMESPATH");
}

CLI::Validator whole_number(int least, int most) {
  const auto check = [least, most](const std::string& word) -> std::string {
    int value = 0;
    const char* end = word.data() + word.size();
    const auto [stop, failure] = std::from_chars(word.data(), end, value);
    if (failure == std::errc{} && stop == end && value >= least && value <= most) return "";
    const bool bounded = most != std::numeric_limits<int>::max();
    return "'" + word + "' is not a whole number " +
           (bounded ? "from " + std::to_string(least) + " to " + std::to_string(most)
                    : "of at least " + std::to_string(least));
  };
  return CLI::Validator(check, "");
}

CLI::Validator filled(const std::string& instead) {
  const auto check = [instead](const std::string& word) {
    return word.empty() ? "must not be empty; " + instead : std::string();
  };
  return CLI::Validator(check, "");
}

CLI::Validator job_name(const std::string& instead) {
  CLI::Validator check = filled(instead);
  check.name(kJobName);
  return check;
}

CLI::App* VerbTable::add(const std::string& name, const std::string& what) const {
  CLI::App* const verb = app.add_subcommand(name, what);
  return whole || name == first_word ? verb : nullptr;
}

CLI::App* VerbTable::add_below(CLI::App& group, const std::string& name,
                               const std::string& what) const {
  CLI::App* const verb = group.add_subcommand(name, what);
  return whole || name == second_word ? verb : nullptr;
}

}  // namespace lockstep::cli
