#include "launcher/gateway/http/message/exchange.h"

#include <utility>

namespace lockstep::http {
namespace {

class CollectingSink final : public BodySink {
 public:
  explicit CollectingSink(std::function<void(std::string)> then) : then_(std::move(then)) {}
  bool take(std::string bytes) override {
    body_ += bytes;
    return true;
  }
  void complete() override { std::exchange(then_, nullptr)(std::move(body_)); }

 private:
  std::function<void(std::string)> then_;
  std::string body_;
};

}  // namespace

void collect_body(Exchange& exchange, std::uint64_t at_most,
                  std::function<void(std::string body)> then) {
  exchange.take_body(at_most, std::make_shared<CollectingSink>(std::move(then)));
}

}  // namespace lockstep::http
