// Ranks of Ray find the head by the arguments of their commands (runner/steps/ray_command.h). This
// file only sets their variables, and removes the link to their files at the end.

#include "runner/bootstrap/ray_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "common/base/digest.h"
#include "common/io/beneath.h"
#include "common/io/process.h"
#include "runner/bootstrap/bootstrap.h"
#include "runner/bootstrap/exchange.h"
#include "runner/bootstrap/rank_variables.h"

namespace lockstep::runner {
namespace {

// Makes a random token of 256 bits.
std::string new_token() {
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:016x}", io::random_u64());
  return token;
}

// Prepares Ray. Any process that reaches the head's port could run code as the job's user, unless
// Ray checks a token (since Ray 2.52; earlier versions ignore it). The first node makes the token.
class RayBootstrap final : public Bootstrap {
 public:
  RayBootstrap(const GangContext& gang, BootstrapEvents events)
      : gang_(gang),
        token_(gang, "token", std::move(events.send),
               [this](const std::map<int, std::string>& texts) {
                 known_ = texts.begin()->second;
                 answer();
               }) {}

  void begin(Begun begun) override {
    begun({});
    token_.say(gang_.assignment.node_rank == 0 ? new_token() : "");
  }

  void environment(int, int, Prepared prepared) override {
    waiting_ = std::move(prepared);
    answer();
  }

  void receive(const GangMessage& message) override { token_.receive(message); }

  // Removes the folder, except in a container, whose /tmp ends with it. On the host, another node
  // may have made the link.
  void end() override {
    const std::string link = ray_folder(gang_);
    std::array<char, 4096> target{};
    const ssize_t size = readlink(link.c_str(), target.data(), target.size());
    const bool is_ours =
        size > 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) ==
                        std::string_view(gang_.tmp_directory);
    if (!is_ours) return;
    // A link that cannot be removed leads nowhere.
    if (const auto tmp = io::Folder::open("/tmp"))
      static_cast<void>(tmp->remove(link.substr(link.rfind('/') + 1)));
  }

 private:
  void answer() {
    if (!known_ || !waiting_) return;
    Variables out(gang_);
    out.set("RAY_TMPDIR", ray_folder(gang_));
    out.set("RAY_AUTH_MODE", "token");
    out.set("RAY_AUTH_TOKEN", *known_);
    std::exchange(waiting_, nullptr)(out.take());
  }

  const GangContext& gang_;
  GangExchange token_;
  std::optional<std::string> known_;
  Prepared waiting_;  // the only rank of this node
};

}  // namespace

std::string ray_folder(const GangContext& gang) {
  const GangMember& head = gang.gang().members.front();
  const std::string gang_name = to_string(gang.assignment.attempt) + " " + head.runner_key.value +
                                " " + std::to_string(gang.gang().master_port);
  return "/tmp/ls-ray." + sha256(gang_name).hex().substr(0, 16);
}

std::unique_ptr<Bootstrap> make_ray_bootstrap(const GangContext& gang, BootstrapEvents events) {
  return std::make_unique<RayBootstrap>(gang, std::move(events));
}

}  // namespace lockstep::runner
