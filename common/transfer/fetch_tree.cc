#include <utility>

#include "common/transfer/swarm_impl.h"

namespace lockstep::transfer {

Status fetch_tree(io::ClientSocket launcher, const Digest& root, snapshot::BlobStore& into,
                  const SwarmSite& site, const OnProgress& progress, TransferOptions options) {
  TRY(download_directories(launcher, root, into, options));
  TRY_ASSIGN(const std::vector<snapshot::BlobWanted> missing, into.missing_blobs_from(root));
  std::uint64_t bytes = 0;
  for (const auto& blob : missing) bytes += blob.size;
  if (options.admit) TRY(options.admit(Bytes{bytes}));
  if (bytes < kWorthPeersBytes) return download(launcher, root, missing, into, progress, options);
  TRY_ASSIGN(std::vector<TreeUnit> units, units_of(into, root));
  return Swarm(std::move(launcher), root, into, site, progress, options).run(std::move(units));
}

Status fetch_files(io::ClientSocket launcher, const Digest& root, const Digest& lock,
                   const std::set<Digest>& wanted, snapshot::BlobStore& into, const SwarmSite& site,
                   Origin& origin, const OnProgress& progress) {
  TRY_ASSIGN(std::vector<TreeUnit> units, units_of(into, root));
  return Swarm(std::move(launcher), root, into, site, progress, {}, &origin, lock)
      .run(std::move(units), &wanted);
}

}  // namespace lockstep::transfer
