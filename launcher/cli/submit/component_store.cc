#include "launcher/cli/submit/component_store.h"

#include <fmt/format.h>

#include <cerrno>
#include <map>
#include <memory>
#include <set>

#include "common/io/disk.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "common/snapshot/capture/capture.h"
#include "common/snapshot/capture/composition.h"
#include "common/transfer/transfer.h"
#include "launcher/cli/submit/submit.h"
#include "launcher/cli/submit/upload.h"
#include "launcher/cli/transfer/before_request.h"
#include "launcher/cli/transfer/download.h"

namespace lockstep::cli {
namespace {

std::string at(const std::string& root, const std::string& below) {
  return below.empty() ? root : root + "/" + below;
}
std::string folder_of(const std::string& file) {
  const auto slash = file.rfind('/');
  return slash == file.npos ? "" : file.substr(0, slash);
}

// ---- fetching -----------------------------------------------------------------------------

// Whether the folder has exactly the files of the tree; somebody may have changed one.
bool is_whole(const Context& context, const std::string& folder, const Digest& tree) {
  if (!io::exists(folder)) return false;
  snapshot::CaptureOptions options;
  options.stat_cache = snapshot::stat_cache_path(context.home.stat_cache(), folder) + ".component";
  options.is_source = false;
  const auto found = snapshot::capture(folder, options);
  return found && found->root == tree && found->skipped.empty();
}

Status put_in_place(const std::string& ready, const std::string& folder) {
  if (io::exists(folder)) TRY(io::remove_tree(folder));
  if (io::disk::rename(ready.c_str(), folder.c_str()) == 0) return {};
  return errno_error(errno, "rename " + ready + " to " + folder);
}

Status fetch_into(Context& context, Connection& connection, const RegisteredAsset& asset,
                  const std::string& folder) {
  TRY_ASSIGN(const io::FileLock lock, io::FileLock::acquire(context.home.components() + ".lock"));
  if (is_whole(context, folder, *asset.tree)) return {};
  const std::string begun = folder + ".begun";
  if (io::exists(begun)) TRY(io::remove_tree(begun));  // left by a killed process
  TRY(io::make_directories(begun, 0700));
  const auto progress = [&](const std::string& text) { context.terminal.progress(text); };
  const auto done = download_asset(connection, asset, begun, progress, Modes::exact);
  context.terminal.clear_status();
  const Status status =
      done ? put_in_place(begun + "/" + done->trees.front().path, folder) : Status(done.error());
  const Status removed = io::remove_tree(begun);
  return status ? removed : status;
}

// Finds components. Within one command, each reference always means the same version.
class Finder {
 public:
  explicit Finder(Context& context) : context_(context) {}

  Result<spec::FoundComponent> find(const AssetReference& reference) {
    const std::string text = to_string(reference);
    if (const auto known = known_.find(text); known != known_.end()) return known->second;
    if (!open_.insert(text).second)
      return make_error(ErrorCode::invalid_argument, text + ": names itself");
    auto found = fetch(reference);
    open_.erase(text);
    if (!found) return found.error().within(text);
    known_.emplace(text, *found);
    return found;
  }

 private:
  Result<spec::FoundComponent> fetch(const AssetReference& reference) {
    TRY_ASSIGN(Connection* const connection, context_.connect(Context::Need::launcher));
    TRY_ASSIGN(const AssetReply reply,
               connection->ask_for<AssetReply>(
                   ShowAsset{AssetKind::component, reference.name, reference.version}));
    const RegisteredAsset& asset = reply.asset.asset;
    TRY(validate(asset));
    if (!asset.component || !asset.tree)
      return make_error(ErrorCode::internal, "the launcher answered with something else");
    TRY(io::make_directories(context_.home.components(), 0700));
    spec::FoundComponent found;
    found.folder = context_.home.components() + "/" + asset.tree->hex();
    found.file = found.folder + "/" + asset.file;
    if (!is_whole(context_, found.folder, *asset.tree))
      TRY(fetch_into(context_, *connection, asset, found.folder));
    TRY_ASSIGN(const spec::ComponentFile file,
               spec::load_component(found.file, {{{"name", asset.name}}, {}},
                                    [this](const AssetReference& other) { return find(other); }));
    TRY(spec::check_is_inside(found.folder, file));
    return found;
  }

  Context& context_;
  std::map<std::string, spec::FoundComponent> known_;
  std::set<std::string> open_;  // files that are being read, to find cycles
};

}  // namespace

spec::FindComponent component_finder(Context& context) {
  return [finder = std::make_shared<Finder>(context)](const AssetReference& reference) {
    return finder->find(reference);
  };
}

namespace {

Status send_files(Context& context, Connection& connection, spec::ComponentFile& file) {
  snapshot::Composition whole;
  for (const std::string& folder : file.sources) {
    TRY_ASSIGN(const auto sent, send_source(context, connection, at(file.root, folder)));
    whole.add(sent, folder);
  }
  for (const std::string& folder : file.folders) {
    TRY_ASSIGN(const auto sent, send_data(context, connection, at(file.root, folder), ""));
    whole.add(sent, folder);
  }
  for (const std::string& path : file.files) {
    TRY_ASSIGN(const auto sent, send_data(context, connection, at(file.root, path),
                                          path.substr(path.rfind('/') + 1)));
    whole.add(sent, folder_of(path));
  }
  TRY_ASSIGN(const snapshot::Snapshot all, whole.finish(file.root));
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  TRY(transfer::upload_snapshot(*bulk, all, {}, upload_limits(context)));
  file.asset.tree = all.root;
  return {};
}

}  // namespace

Status send_component(Context& context, Connection& connection, spec::ComponentFile& file) {
  const BeforeRequest before(context.terminal, BeforeRequest::Kind::registration);
  return before.explained(send_files(context, connection, file));
}

}  // namespace lockstep::cli
