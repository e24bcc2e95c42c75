// `lockstep job compare A B`: what differs between two runs.

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "common/io/run_program.h"
#include "launcher/cli/job_difference.h"
#include "launcher/cli/verbs.h"

namespace lockstep::cli {

namespace {

constexpr std::uint64_t kMostShown = 1u << 20;  // bytes of a file whose lines are compared
constexpr std::size_t kMostFiles = 50;          // whose lines are compared
constexpr const char* kCompareExamples = R"(
  lockstep job compare good bad                 what differs: files, command, variables, results
  lockstep job compare good bad --diff          and the lines of changed files
Exit code 0: also when they differ.)";

struct CompareOptions {
  std::string a, b;
  bool diff = false;
  Format format = Format::table;
};

struct Side {
  JobView job;
  std::unique_ptr<LeftFiles> code;  // null: the job has no files, or both have the same
};

struct Comparison {
  Side a, b;
  std::vector<FieldDifference> fields;
  CodeDifference code;
  std::map<std::string, std::string> lines = {};  // of changed files, as `diff -u` shows them
};

Result<std::unique_ptr<LeftFiles>> code_of(Connection& connection, const JobView& job) {
  if (!job.spec.snapshot) return std::unique_ptr<LeftFiles>();
  DownloadPlan plan;
  DownloadPlan::Tree& tree = plan.trees.emplace_back();
  tree.to.kind = OutputKind::named;
  tree.to.path = "code";
  tree.from = {{0, *job.spec.snapshot}};
  return LeftFiles::fetch(connection, JobId(job.spec.name), std::move(plan));
}

Result<Side> side_of(Connection& connection, const std::string& name) {
  TRY_ASSIGN(JobReply reply, connection.ask_for<JobReply>(ShowJob{JobId(name)}));
  // One that may see the job but not read it is shown a job without code and words.
  TRY(connection.ask_for<EventsReply>(ListEvents{JobId(name), Instant::never()}));
  return Side{std::move(reply.job), nullptr};
}

// Its place below the source folder.
std::string shown(const std::string& path) { return path.substr(path.find('/') + 1); }

class LineComparer {
 public:
  LineComparer(Connection& connection, Comparison& all) : connection_(connection), all_(all) {}
  ~LineComparer() {
    if (!folder_.empty()) static_cast<void>(io::remove_tree(folder_));
  }
  LineComparer(const LineComparer&) = delete;
  LineComparer& operator=(const LineComparer&) = delete;

  Status run() {
    folder_ = "/tmp/lockstep-compare-XXXXXX";
    if (::mkdtemp(folder_.data()) == nullptr) {
      folder_.clear();
      return make_error(ErrorCode::unavailable, "compare: cannot make a folder in /tmp");
    }
    for (const std::string& path : all_.code.changed) {
      if (all_.lines.size() >= kMostFiles) break;
      TRY_ASSIGN(const bool has_first, bring(*all_.a.code, path, folder_ + "/a"));
      TRY_ASSIGN(const bool has_second, bring(*all_.b.code, path, folder_ + "/b"));
      if (!has_first || !has_second) continue;
      TRY_ASSIGN(const io::ProgramOutput made,
                 io::run_program(
                     {"diff", "-u", "--label", all_.a.job.spec.name + "/" + shown(path), "--label",
                      all_.b.job.spec.name + "/" + shown(path), folder_ + "/a", folder_ + "/b"},
                     seconds(30)));
      all_.lines[path] = made.text;
    }
    return {};
  }

 private:
  // False: a symlink, or larger than kMostShown.
  Result<bool> bring(LeftFiles& files, const std::string& path, const std::string& to) {
    const auto found = std::find_if(files.files().begin(), files.files().end(),
                                    [&](const LeftFile& file) { return file.path == path; });
    const bool is_fit = found != files.files().end() &&
                        found->entry.kind == snapshot::EntryKind::file &&
                        found->entry.size <= kMostShown;
    if (!is_fit) return false;
    std::string bytes;
    TRY(files.read(connection_, *found, [&](std::string_view piece) {
      bytes += piece;
      return true;
    }));
    TRY(io::write_file_atomically(to, bytes, 0600));
    return true;
  }

  Connection& connection_;
  Comparison& all_;
  std::string folder_;
};

Result<Comparison> comparison_of(Connection& connection, const CompareOptions& options) {
  Comparison all;
  TRY_ASSIGN(all.a, side_of(connection, options.a));
  TRY_ASSIGN(all.b, side_of(connection, options.b));
  all.fields = differences_of(all.a.job, all.b.job);
  if (all.a.job.spec.snapshot == all.b.job.spec.snapshot) return all;
  TRY_ASSIGN(all.a.code, code_of(connection, all.a.job));
  TRY_ASSIGN(all.b.code, code_of(connection, all.b.job));
  const std::vector<LeftFile> none;
  all.code = differences_of(all.a.code ? all.a.code->files() : none,
                            all.b.code ? all.b.code->files() : none);
  if (options.diff) TRY(LineComparer(connection, all).run());
  return all;
}

Json paths_of(const std::vector<std::string>& paths) {
  Json list = Json::array();
  for (const std::string& path : paths) list.push_back(shown(path));
  return list;
}

Json to_json(const Comparison& all) {
  Json json;
  json["a"] = all.a.job.spec.name;
  json["b"] = all.b.job.spec.name;
  json["same"] = all.fields.empty() && all.code.empty();
  json["fields"] = Json::array();
  for (const FieldDifference& field : all.fields)
    json["fields"].push_back({{"key", field.key}, {"a", field.a}, {"b", field.b}});
  json["code"] = {{"added", paths_of(all.code.added)},
                  {"removed", paths_of(all.code.removed)},
                  {"changed", paths_of(all.code.changed)}};
  Json lines = Json::object();
  for (const auto& [path, text] : all.lines) lines[shown(path)] = text;
  json["code"]["lines"] = std::move(lines);
  return json;
}

std::string value_text(const Json& value) {
  if (value.is_null()) return "-";
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const Comparison& all, std::optional<std::size_t> columns) {
  if (all.fields.empty() && all.code.empty())
    return fmt::format("{} and {} do not differ\n", all.a.job.spec.name, all.b.job.spec.name);
  std::string text;
  if (!all.fields.empty()) {
    const std::string first = printable(all.a.job.spec.name),
                      second = printable(all.b.job.spec.name);
    Table table({"", "FIRST: " + first, "SECOND: " + second});
    for (const FieldDifference& field : all.fields)
      table.add({field.key, value_text(field.a), value_text(field.b)});
    text =
        columns ? table.text(*columns, {"FIRST: " + first, "SECOND: " + second}, {}) : table.text();
  }
  const auto add = [&](const char* what, const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      text += fmt::format("code {:<8} {}\n", what, quoted_name(shown(path)));
  };
  add("added", all.code.added);
  add("removed", all.code.removed);
  add("changed", all.code.changed);
  for (const auto& [path, lines] : all.lines) text += printable(lines);
  return text;
}

int compare(Context& context, const CompareOptions& options) {
  const auto connection = context.connect(Context::Need::launcher);
  if (!connection) return fail(context.terminal, connection.error());
  const auto all = comparison_of(**connection, options);
  if (!all) return fail(context.terminal, all.error());
  return print(context, options.format, to_json(*all), text_of(*all, context.terminal.columns()));
}

}  // namespace

void add_compare_verb(CLI::App& group, VerbTable table) {
  CLI::App* const verb = table.add_below(group, "compare", "show what differs between two jobs");
  if (verb == nullptr) return;
  const auto options = std::make_shared<CompareOptions>();
  verb->footer(kCompareExamples);
  verb->add_option("NAME", options->a, "the first job")->required()->check(filled("name a job"));
  verb->add_option("NAME2", options->b, "the second job")->required()->check(filled("name a job"));
  verb->add_flag("--diff", options->diff, "also the lines of changed text files, as `diff -u`");
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return compare(context, *options); };
  });
}

}  // namespace lockstep::cli
