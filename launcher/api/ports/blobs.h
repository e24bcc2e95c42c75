#pragma once
// The trees of files that the launcher stores, as the service uses them. Each answer comes later,
// on the loop. Work is done in the turn of the user whose caller it is; one who has too much
// waiting gets resource_exhausted.

#include <functional>
#include <string>
#include <vector>

#include "common/base/digest.h"
#include "common/base/result.h"
#include "common/domain/messages/client_protocol.h"
#include "common/snapshot/subtree.h"
#include "launcher/api/ports/datastores.h"
#include "launcher/api/ports/tree_question.h"
#include "launcher/core/access/authority.h"

namespace lockstep::launcher {

class Blobs {
 public:
  virtual ~Blobs() = default;
  // Whether the whole tree is stored and all its blobs are the caller's: sent by the caller, or
  // part of what the caller may read.
  virtual void check_whole(const Caller& caller, const Digest& root,
                           std::function<void(Result<bool> whole)> then) = 0;
  // Measures the space of the tree (snapshot::stored_size), for quotas.
  virtual void measure(const Caller& caller, const Digest& root,
                       std::function<void(Result<Bytes> size)> then) = 0;
  // Finds one tree of several, or a part of it. The collection of blobs spares the result for a
  // while.
  virtual void find(const Caller& caller, const TreeQuestion& question,
                    std::function<void(Result<snapshot::Subtree> found)> then) = 0;
  // Fills in how the files of these changes differ, as far as they can be read.
  virtual void compare(const Caller& caller, std::vector<PartChange> changes,
                       std::function<void(std::vector<PartChange> compared)> then) = 0;
  // Fetches files of a remote into the store. `tell` is called on the loop about once a second
  // while they are fetched. The result is kept from the collection of blobs for a while.
  virtual void fetch_remote(const Caller& caller, const RemoteFiles& files,
                            std::function<void(const std::string& progress)> tell,
                            std::function<void(Result<snapshot::Subtree> fetched)> then) = 0;
};

}  // namespace lockstep::launcher
