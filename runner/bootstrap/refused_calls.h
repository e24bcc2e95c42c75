#pragma once
// The last call of each rank that its server does not serve. An MPI library ends a rank whose call
// was refused by aborting it, so the reason belongs into the report.

#include <map>
#include <string>

namespace lockstep::runner {

class RefusedCalls {
 public:
  void note(int rank, std::string what) { calls_[rank] = std::move(what); }
  // The message of a rank's abort, with what was refused to it before.
  std::string explain(int rank, std::string message) const {
    const auto call = calls_.find(rank);
    if (call == calls_.end()) return message;
    if (!message.empty()) message += "; ";
    return message + call->second +
           " is not supported: all ranks of a job start together, and they cannot reach other "
           "jobs' ranks";
  }

 private:
  std::map<int, std::string> calls_;
};

}  // namespace lockstep::runner
