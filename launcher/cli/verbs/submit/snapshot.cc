#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "common/base/quoted_name.h"
#include "common/io/file_system.h"
#include "common/snapshot/capture/capture.h"
#include "launcher/cli/transfer/capture_lines.h"
#include "launcher/cli/verbs/submit/submit_verbs.h"

namespace lockstep::cli {

namespace {

struct SnapshotOptions {
  std::string directory;
  bool skipped = false;
  std::optional<snapshot::Links> links;
  Format format = Format::table;
};

std::string why_skipped(const snapshot::SkippedPath& skipped) {
  if (skipped.source.empty()) return skipped.pattern;
  return fmt::format("{}:{}: {}", skipped.source, skipped.line, skipped.pattern);
}

Json json_of(const snapshot::Snapshot& snapshot) {
  Json json;
  json["directory"] = snapshot.directory;
  json["digest"] = snapshot.root.hex();
  json["files"] = snapshot.files.size();
  json["folders"] = snapshot.folders;
  json["symlinks"] = snapshot.symlinks;
  json["bytes"] = snapshot.total.count;
  json["files_read"] = snapshot.files_read;
  json["skipped"] = Json::array();
  for (const auto& skipped : snapshot.skipped)
    json["skipped"].push_back({{"path", skipped.path},
                               {"source", skipped.source},
                               {"line", skipped.line},
                               {"pattern", skipped.pattern}});
  json["followed"] = Json::array();
  for (const auto& link : snapshot.report.followed)
    json["followed"].push_back({{"path", link.path},
                                {"target", link.target},
                                {"files", link.files},
                                {"bytes", link.total.count}});
  json["kept"] = Json::array();
  for (const auto& link : snapshot.report.kept)
    json["kept"].push_back({{"path", link.path}, {"target", link.target}, {"why", link.why}});
  json["notes"] = snapshot.report.notes;
  return json;
}

std::string text_of(const snapshot::Snapshot& snapshot, bool with_skipped) {
  std::string text = fmt::format(
      "{}\n  {} files, {} folders, {} symlinks, {}; {} files read ({}), {} paths skipped\n",
      snapshot.root.hex(), snapshot.files.size(), snapshot.folders, snapshot.symlinks,
      to_string(snapshot.total), snapshot.files_read, to_string(snapshot.bytes_read),
      snapshot.skipped.size());
  if (!with_skipped) return text;
  if (snapshot.skipped.empty()) return text;
  Table table({"SKIPPED", "BY"});
  for (const auto& skipped : snapshot.skipped)
    table.add({quoted_name(skipped.path), why_skipped(skipped)});
  return text + table.text();
}

int take(Context& context, const SnapshotOptions& options) {
  snapshot::CaptureOptions capture;
  if (const Status made = io::make_directories(context.home.stat_cache(), 0700); !made)
    return fail(context.terminal, made.error());
  capture.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), options.directory);
  capture.allow_home_or_root = true;
  capture.own_files = context.home.path();
  capture.links = options.links.value_or(snapshot::Links::follow);
  const auto snapshot = snapshot::capture(options.directory, capture);
  if (!snapshot) return fail(context.terminal, snapshot.error());
  for (const std::string& line : capture_lines(options.directory, snapshot->report))
    context.terminal.print_line(line);
  return print(context, options.format, json_of(*snapshot), text_of(*snapshot, options.skipped));
}

}  // namespace

void add_snapshot_verb(VerbTable table) {
  const auto options = std::make_shared<SnapshotOptions>();
  CLI::App* const verb =
      table.add("snapshot", "show which files of a directory a job would upload");
  if (verb == nullptr) return;
  verb->add_option("DIR", options->directory, "the directory")
      ->required()
      ->check(filled("name a directory, such as ."));
  verb->add_flag("--skipped", options->skipped,
                 "list the paths that are left out, each with its pattern");
  add_links(*verb, options->links);
  add_format(*verb, options->format);
  verb->callback([table, options] {
    table.action = [options](Context& context) { return take(context, *options); };
  });
}

}  // namespace lockstep::cli
