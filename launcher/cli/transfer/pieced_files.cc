#include "launcher/cli/transfer/pieced_files.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"
#include "common/snapshot/content/compress.h"

namespace lockstep::cli {
namespace {

using snapshot::Piece;
using snapshot::PiecedFile;
// The digest of a file. `at`: its place in the tree.
using DigestOf =
    std::function<Result<Digest>(const PiecedFile&, const Digest& list, const std::string& at)>;

snapshot::DirectoryObjects objects_of(snapshot::BlobStore& blobs) {
  snapshot::DirectoryObjects objects;
  objects.read = [&](const Digest& digest) {
    return blobs.get(digest, Bytes{snapshot::kMaxDirectoryObjectBytes});
  };
  objects.write = [&](const Digest& digest, const std::string& bytes) {
    return blobs.put(digest, bytes);
  };
  return objects;
}

// Logs always grow, so nobody takes one for a complete file.
snapshot::Partial partial_of(const DownloadPlan::Tree& tree) {
  return tree.to.kind == OutputKind::logs ? snapshot::Partial::in_place : snapshot::Partial::beside;
}

Status put_in(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs, const DigestOf& digest_of) {
  const snapshot::DirectoryObjects objects = objects_of(blobs);
  for (const NodeTree& list : tree.pieces)
    for (NodeTree& from : tree.from) {
      if (from.node_rank != list.node_rank) continue;
      TRY_ASSIGN(const auto files, snapshot::decode_pieces(list.root, objects.read));
      const auto digest = [&](const PiecedFile& file, const std::string& at) {
        return digest_of(file, list.root, at);
      };
      TRY_ASSIGN(from.root,
                 snapshot::put_in_pieces(from.root, files, objects, digest, partial_of(tree)));
    }
  return {};
}

// Passes on the file's bytes in parts of at most kMaxPieceBytes.
Status each_part(const PiecedFile& file, const snapshot::BlobStore& blobs,
                 const snapshot::BlobStore::Sink& sink) {
  for (const Piece& piece : file.pieces) TRY(blobs.stream(piece.digest, sink));
  return {};
}

Status store_joined(const Digest& digest, const PiecedFile& file, snapshot::BlobStore& blobs) {
  std::string part;
  std::uint64_t offset = 0;
  const auto flush = [&]() -> Status {
    TRY(blobs.put_piece(snapshot::make_piece(digest, file.size(), offset, part)));
    offset += part.size();
    part.clear();
    return {};
  };
  TRY(each_part(file, blobs, [&](std::string_view bytes) -> Status {
    while (!bytes.empty()) {
      const std::size_t taken = std::min(bytes.size(), kMaxPieceBytes - part.size());
      part.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (part.size() == kMaxPieceBytes) TRY(flush());
    }
    return {};
  }));
  return part.empty() ? Status() : flush();
}

Result<Digest> join(const PiecedFile& file, snapshot::BlobStore& blobs) {
  if (file.pieces.size() == 1) return file.pieces.front().digest;
  Sha256 hash;
  TRY(each_part(file, blobs, [&](std::string_view bytes) -> Status {
    hash.update(bytes);
    return {};
  }));
  const Digest digest = hash.finish();
  if (blobs.has(digest)) return digest;
  if (file.pieces.empty())
    TRY(blobs.put(digest, ""));
  else
    TRY(store_joined(digest, file, blobs));
  return digest;
}

}  // namespace

Status show_pieces(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs, PieceLists& lists) {
  const auto shown = [&](const PiecedFile& file, const Digest& list, const std::string&) {
    // Equal for equal files at one path, so that files of several nodes become one.
    Sha256 hash;
    hash.update(file.partial ? "partial" : "whole");
    hash.update(file.path + '\0');
    for (const Piece& piece : file.pieces) hash.update(piece.digest.view());
    const Digest digest = hash.finish();
    lists[digest] = {file, list};
    return Result<Digest>(digest);
  };
  return put_in(tree, blobs, shown);
}

Status join_pieces(DownloadPlan::Tree& tree, snapshot::BlobStore& blobs) {
  return put_in(tree, blobs, [&](const PiecedFile& file, const Digest&, const std::string& at) {
    std::vector<std::string>& partial = tree.to.partial;
    if (file.partial && std::find(partial.begin(), partial.end(), at) == partial.end())
      partial.push_back(at);
    return join(file, blobs);
  });
}

}  // namespace lockstep::cli
