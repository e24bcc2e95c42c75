// `lockstep job compare A B`: what differs between two runs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/quoted_name.h"
#include "launcher/cli/text/pipeline_view.h"
#include "launcher/cli/verbs/look/job_comparison.h"
#include "launcher/cli/verbs/look/look_verbs.h"

namespace lockstep::cli {

namespace {

constexpr const char* kCompareExamples = R"(
  lockstep job compare good bad                 what differs: files, command, variables, results
  lockstep job compare good bad --diff          and the lines of changed files
The steps of pipelines are compared by their names.
Exit code 0: also when they differ.)";

struct CompareOptions {
  std::string a, b;
  bool diff = false;
  Format format = Format::table;
};

Json paths_of(const std::vector<std::string>& paths) {
  Json list = Json::array();
  for (const std::string& path : paths) list.push_back(source_path(path));
  return list;
}

Json to_json(const std::vector<FieldDifference>& fields) {
  Json list = Json::array();
  for (const FieldDifference& field : fields)
    list.push_back({{"key", field.key}, {"a", field.a}, {"b", field.b}});
  return list;
}

Json to_json(const SourceDifference& code) {
  Json json = {{"added", paths_of(code.paths.added)},
               {"removed", paths_of(code.paths.removed)},
               {"changed", paths_of(code.paths.changed)}};
  Json lines = Json::object();
  for (const auto& [path, text] : code.lines) lines[source_path(path)] = text;
  json["lines"] = std::move(lines);
  return json;
}

Json to_json(const StepComparison& step) {
  const bool in_both = step.in_a && step.in_b;
  Json json;
  json["name"] = step.name;
  json["only_in"] = in_both ? Json(nullptr) : Json(step.in_a ? "a" : "b");
  json["fields"] = in_both ? to_json(step.fields) : Json::array();
  json["code"] = to_json(step.code);
  return json;
}

Json to_json(const Comparison& all) {
  Json json;
  json["a"] = all.a;
  json["b"] = all.b;
  json["same"] = all.is_same();
  json["fields"] = to_json(all.fields);
  json["code"] = to_json(all.code);
  json["steps"] = Json::array();
  for (const StepComparison& step : all.steps) json["steps"].push_back(to_json(step));
  json["steps_by_state"] = all.by_states;
  return json;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>() : json_line(value);
}

std::string joined(const std::string& prefix, const std::string& key) {
  return prefix.empty() || key.empty() ? prefix + key : prefix + "." + key;
}

class ComparisonText {
 public:
  ComparisonText(const Comparison& all, std::optional<std::size_t> columns)
      : all_(all), columns_(columns) {}

  std::string text() {
    add("", all_.fields, all_.code);
    const std::size_t shown = std::min(all_.steps.size(), kMostStepsShown);
    for (std::size_t i = 0; i < shown; ++i)
      add("jobs." + all_.steps[i].name, all_.steps[i].fields, all_.steps[i].code);
    std::string text = table() + files_;
    if (all_.is_same()) text = fmt::format("{} and {} do not differ\n", all_.a, all_.b);
    if (all_.steps.size() > shown)
      text += fmt::format("{} more steps differ; -o json names all\n", all_.steps.size() - shown);
    if (all_.by_states > 0)
      text += fmt::format(
          "the results of {} more steps are compared by their states alone; compare their jobs\n",
          all_.by_states);
    return text;
  }

 private:
  void add(const std::string& prefix, const std::vector<FieldDifference>& fields,
           const SourceDifference& code) {
    for (const FieldDifference& field : fields)
      rows_.push_back({joined(prefix, field.key), value_text(field.a), value_text(field.b)});
    const std::string files = text_of(code);
    if (files.empty()) return;
    const auto [same, is_new] = shown_.emplace(files, prefix);
    if (!prefix.empty()) files_ += prefix + ":" + (is_new ? "\n" : " ");
    files_ += is_new ? files : fmt::format("as {}\n", same->second);
  }

  static std::string text_of(const SourceDifference& code) {
    std::string text;
    const auto list = [&](const char* what, const std::vector<std::string>& paths) {
      for (const std::string& path : paths)
        text += fmt::format("code {:<8} {}\n", what, quoted_name(source_path(path)));
    };
    list("added", code.paths.added);
    list("removed", code.paths.removed);
    list("changed", code.paths.changed);
    for (const auto& [path, lines] : code.lines) text += printable(lines);
    return text;
  }

  std::string table() const {
    if (rows_.empty()) return "";
    const std::string first = "FIRST: " + printable(all_.a);
    const std::string second = "SECOND: " + printable(all_.b);
    Table table({"", first, second});
    for (const auto& row : rows_) table.add(row);
    return columns_ ? table.text(*columns_, {first, second}, {}) : table.text();
  }

  const Comparison& all_;
  const std::optional<std::size_t> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::string files_;
  std::map<std::string, std::string> shown_;  // differences of files, by their place
};

int compare(Context& context, const CompareOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto all = compare_jobs(**connection, options.a, options.b, options.diff);
  if (!all) return fail(context.terminal, all.error());
  return print(context, options.format, to_json(*all),
               ComparisonText(*all, context.terminal.columns()).text());
}

}  // namespace

void add_compare_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb = table.add_below(group, "compare", "show what differs between two jobs");
  if (verb == nullptr) return;
  const auto options = std::make_shared<CompareOptions>();
  verb->footer(kCompareExamples);
  verb->add_option("NAME", options->a, "the first job")->required()->check(job_name("name a job"));
  verb->add_option("NAME2", options->b, "the second job")
      ->required()
      ->check(job_name("name a job"));
  verb->add_flag("--diff", options->diff, "also the lines of changed text files, as `diff -u`");
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return compare(context, *options); };
  });
}

}  // namespace lockstep::cli
