#include "envs/program/carry_out.h"

#include <string>
#include <string_view>
#include <utility>

#include "common/io/file_system.h"
#include "common/io/process.h"
#include "envs/conda/pack.h"
#include "envs/program/providers.h"

namespace lockstep::envs {
namespace {

class Events {
 public:
  explicit Events(int fd) : fd_(fd) {}
  void tell(const Event& event) const { (void)!io::write_all(fd_, to_json(event)); }

 private:
  const int fd_;
};

Event built_by(Provider& provider, const Order& order, const Lock& lock, Toolbox& tools) {
  Event last;
  if (order.site.image.tree.empty()) {
    const auto wants = provider.wants_tree(tools, order.site, lock);
    if (!wants) last.failed = wants.error();
    if (wants) last.wants_tree = *wants;
    if (last.is_last()) return last;
  }
  auto built = provider.build(tools, order.site, lock);
  if (built)
    last.activation = std::move(*built);
  else
    last.failed = std::move(built).error();
  return last;
}

Event packed(const Order& order, Toolbox& tools) {
  Event last;
  const auto* conda = std::get_if<CondaEnvironment>(&order.definition);
  if (conda == nullptr) {
    last.failed = make_error(ErrorCode::internal, "only conda packages can be packed");
    return last;
  }
  auto done = pack_conda(tools, *conda, order.site);
  if (done) {
    last.lock = std::move(done->lock);
    last.activation = std::move(done->activation);
  } else {
    last.failed = std::move(done).error();
  }
  return last;
}

Event do_it(const Order& order, Toolbox& tools) {
  Event last;
  const auto provider = provider_of_kind(order.definition);
  const Lock lock = order.lock.value_or(Lock{});
  switch (order.what) {
    case Order::What::build: return built_by(*provider, order, lock, tools);
    case Order::What::pack: return packed(order, tools);
    case Order::What::solve:
      if (auto solved = provider->solve(tools, order.site))
        last.lock = std::move(*solved);
      else
        last.failed = std::move(solved).error();
      break;
    case Order::What::missing:
      if (auto missing = provider->missing(tools, order.site, lock))
        last.missing = std::move(*missing);
      else
        last.failed = std::move(missing).error();
      break;
    case Order::What::fetch:
      if (const Status fetched = provider->fetch(tools, order.site, lock); !fetched)
        last.failed = fetched.error();
      else
        last.missing.emplace();
      break;
  }
  return last;
}

}  // namespace

void carry_out(const Order& order, int events) {
  const Events told(events);
  Toolbox tools(io::own_environment(), "/", [&](std::string_view said) {
    Event event;
    event.progress = std::string(said);
    told.tell(event);
  });
  told.tell(do_it(order, tools));
}

}  // namespace lockstep::envs
