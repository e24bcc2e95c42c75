#pragma once
// A blob store that answers at once, and the same of every tree.

#include <utility>

#include "launcher/api/ports/blobs.h"

namespace lockstep::test {

class FakeBlobs final : public launcher::Blobs {
 public:
  void check_whole(const launcher::Caller&, const Digest&,
                   std::function<void(Result<bool>)> then) override {
    then(whole);
  }
  void measure(const launcher::Caller&, const Digest&,
               std::function<void(Result<Bytes>)> then) override {
    then(size);
  }
  void find(const launcher::Caller&, const launcher::TreeQuestion&,
            std::function<void(Result<snapshot::Subtree>)> then) override {
    then(found);
  }
  void compare(const launcher::Caller&, std::vector<PartChange> changes,
               std::function<void(std::vector<PartChange>)> then) override {
    then(std::move(changes));
  }
  void fetch_remote(const launcher::Caller&, const launcher::RemoteFiles&,
                    std::function<void(const std::string&)>,
                    std::function<void(Result<snapshot::Subtree>)> then) override {
    then(found);
  }

  Result<bool> whole = true;
  Result<Bytes> size = Bytes{};
  Result<snapshot::Subtree> found = make_error(ErrorCode::not_found, "nothing is there");
};

}  // namespace lockstep::test
