#include "launcher/cli/transfer/left_files.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "common/io/file_system.h"
#include "common/transfer/transfer.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view kArtifacts = "artifacts/";

transfer::TransferOptions options_of(const JobId& job) {
  transfer::TransferOptions options;
  options.give_up_after = seconds(30);
  options.of_job = job;
  return options;
}

// The path as in the working directory, if the file was there.
std::string shown(const std::string& path) {
  return path.starts_with(kArtifacts) ? path.substr(kArtifacts.size()) : path;
}

}  // namespace

LeftFiles::~LeftFiles() {
  blobs_.reset();
  if (!scratch_.empty()) static_cast<void>(io::remove_tree(scratch_));
}

Status LeftFiles::open_store() {
  const char* const given = std::getenv("TMPDIR");
  scratch_ =
      std::string(given != nullptr && *given == '/' ? given : "/tmp") + "/lockstep-files-XXXXXX";
  if (::mkdtemp(scratch_.data()) == nullptr) {
    const int failed = errno;
    const std::string where = std::exchange(scratch_, "");
    return errno_error(failed, "cannot make " + where);
  }
  TRY_ASSIGN(blobs_, snapshot::BlobStore::open(scratch_ + "/blobs"));
  return {};
}

Result<std::unique_ptr<LeftFiles>> LeftFiles::fetch(Connection& connection, const JobId& job,
                                                    DownloadPlan plan) {
  std::unique_ptr<LeftFiles> left(new LeftFiles(job, std::move(plan)));
  TRY(left->open_store());
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  for (DownloadPlan::Tree& tree : left->plan_.trees) {
    std::vector<NodeTree> wanted = tree.from;
    if (tree.base) wanted.push_back({0, *tree.base});
    wanted.insert(wanted.end(), tree.pieces.begin(), tree.pieces.end());
    left->roots_.insert(left->roots_.end(), wanted.begin(), wanted.end());
    for (const NodeTree& from : wanted)
      TRY(transfer::download_directories(*bulk, from.root, *left->blobs_, options_of(job)));
    TRY(show_pieces(tree, *left->blobs_, left->pieces_));
    TRY_ASSIGN(const Digest root, merge_tree(tree, *left->blobs_));
    TRY(left->list(root, shown(tree.to.path) + "/"));
  }
  std::sort(left->files_.begin(), left->files_.end(),
            [](const LeftFile& a, const LeftFile& b) { return a.path < b.path; });
  return left;
}

namespace {

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Status LeftFiles::list(const Digest& folder, const std::string& path) {
  TRY_ASSIGN(const std::string bytes,
             blobs_->get(folder, Bytes{snapshot::kMaxDirectoryObjectBytes}));
  TRY_ASSIGN(const snapshot::Directory directory, snapshot::decode_directory(bytes));
  for (const snapshot::Entry& entry : directory.entries) {
    if (entry.kind == snapshot::EntryKind::directory) {
      TRY(list(entry.digest, path + entry.name + "/"));
    } else {
      const auto pieces = pieces_.find(entry.digest);
      LeftFile file{path + entry.name, entry};
      file.partial = pieces != pieces_.end() && pieces->second.file.partial;
      if (file.partial) file.whole = path + last_name(pieces->second.file.path);
      files_.push_back(std::move(file));
    }
  }
  return {};
}

// Reads a file. It is requested as part of each node's tree, because it is unknown here which one
// has it.
Status LeftFiles::read(Connection& connection, const LeftFile& file,
                       const std::function<bool(std::string_view)>& sink) {
  if (file.entry.size == 0) return {};
  if (const auto pieces = pieces_.find(file.entry.digest); pieces != pieces_.end()) {
    for (const snapshot::Piece& piece : pieces->second.file.pieces)
      TRY(read_blob(connection, {piece.digest, piece.size, false}, {pieces->second.list}, sink));
    return {};
  }
  std::vector<Digest> trees;
  for (const NodeTree& root : roots_) trees.push_back(root.root);
  const Status done =
      read_blob(connection, {file.entry.digest, file.entry.size, false}, trees, sink);
  if (done || done.error().code != ErrorCode::not_found) return done;
  return make_error(ErrorCode::not_found, "no node has the file " + file.path);
}

Status LeftFiles::read_blob(Connection& connection, const snapshot::BlobWanted& wanted,
                            const std::vector<Digest>& trees,
                            const std::function<bool(std::string_view)>& sink) {
  Status fetched = make_error(ErrorCode::not_found, "no tree has the blob " + wanted.digest.hex());
  TRY_ASSIGN(io::ClientSocket* const bulk, connection.bulk());
  for (const Digest& tree : trees) {
    fetched = transfer::download(*bulk, tree, {wanted}, *blobs_, {}, options_of(job_));
    if (fetched)
      return blobs_->stream(wanted.digest, [&](std::string_view part) -> Status {
        if (sink(part)) return {};
        return make_error(ErrorCode::unavailable, "the rest is not wanted");
      });
    if (fetched.error().code != ErrorCode::conflict && fetched.error().code != ErrorCode::not_found)
      return fetched;
  }
  return fetched;
}

}  // namespace lockstep::cli
