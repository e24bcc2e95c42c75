#include "tests/bench/fleet/roster.h"

namespace lockstep::fleet {
namespace {

constexpr Duration kJoinTimeout = minutes(10);

}  // namespace

Result<Member> member(io::EventLoop& loop, io::Transport& transport, const wire::JoinToken& token,
                      const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  Member member;
  if (!directory.empty()) {
    TRY_ASSIGN(member.keys, io::load_or_create_key_pair(path + ".key"));
    TRY_ASSIGN(auto known, agent::load_identity(path + ".json"));
    if (known) {
      member.identity = *std::move(known);
      return member;
    }
  } else {
    member.keys = io::generate_key_pair();
  }
  TRY_ASSIGN(member.identity, agent::join(loop, transport, token, agent::endpoints_of(token),
                                          member.keys, name, kJoinTimeout));
  if (!directory.empty()) TRY(agent::save_identity(path + ".json", member.identity));
  return member;
}

}  // namespace lockstep::fleet
