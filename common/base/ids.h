#pragma once
// Strong identifiers. Two ids of different kinds never compare or convert.

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "common/base/table.h"

namespace lockstep {

template <typename Tag, typename Rep>
struct Id {
  Rep value{};

  Id() = default;
  explicit Id(Rep v) : value(std::move(v)) {}
  friend auto operator<=>(const Id&, const Id&) = default;
};

using NodeId = Id<struct NodeIdTag, std::uint64_t>;  // assigned at join, never reused; 0 = none
using BootId = Id<struct BootIdTag, std::string>;    // changes when a node's processes must be gone
using SessionId = Id<struct SessionIdTag, std::uint64_t>;  // one id per agent start; see
                                                           // session_id()
using JobId = Id<struct JobIdTag, std::string>;          // the job's name, e.g. gray_pig_knyllgjbkl
using PublicKey = Id<struct PublicKeyTag, std::string>;  // CURVE public key, z85, 40 characters

// One attempt at a job. Numbers start at 1.
struct AttemptId {
  JobId job;
  std::uint32_t number = 0;
  // 0 for most attempts. If the job's name was used before, or the launcher was restored from a
  // backup, the value differs from all earlier attempts with the same job name and number.
  std::uint64_t incarnation = 0;

  template <class Self, class See>
  static void fields(Self& self, See&& see) {  // within a reason: common/domain/why
    see("job", self.job);
    see("number", self.number);
    see("incarnation", self.incarnation);
  }
  static void table(auto& s, auto&& see) {
    see(field<1>, "job", s.job);
    see(field<2>, "number", s.number, {.low = 1});
    see(field<3>, "era", s.incarnation);
  }
  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
};

// Makes a session's id. A later agent start within one boot of a node has a greater id, so that
// late messages of an earlier start are recognised. The low 24 bits are random, so that the agents
// of cloned machines have different ids.
inline SessionId session_id(std::uint64_t milliseconds_since_boot, std::uint64_t random) {
  return SessionId(milliseconds_since_boot << 24 | (random & 0xffffff));
}

// "gray_pig_knyllgjbkl.1", or with an incarnation "gray_pig_knyllgjbkl.1-1795312345678". Paths,
// labels and messages use this form.
inline std::string to_string(const AttemptId& id) {
  const std::string incarnation = id.incarnation == 0 ? "" : "-" + std::to_string(id.incarnation);
  return id.job.value + "." + std::to_string(id.number) + incarnation;
}

}  // namespace lockstep
