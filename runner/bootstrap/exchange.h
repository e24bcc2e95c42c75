#pragma once
// An exchange of texts among the runners of a gang: each gives one text, and then each has all. It
// is a fence of the gang's tree, whose links are encrypted.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runner/bootstrap/bootstrap.h"
#include "runner/gang/collective.h"

namespace lockstep::runner {

class GangExchange {
 public:
  // `send`: as BootstrapEvents has it. `known` gets the texts by node rank, once: in say() or in
  // receive(). `kind` distinguishes exchanges of one gang.
  GangExchange(const GangContext& gang, std::string kind, std::function<void(GangMessage)> send,
               std::function<void(const std::map<int, std::string>&)> known);

  void say(std::string text);  // may be called once
  void receive(const GangMessage& message);

 private:
  void perform(std::vector<FenceTree::Step> steps);

  std::string signature_;
  std::function<void(GangMessage)> send_;
  std::function<void(const std::map<int, std::string>&)> known_;
  FenceTree fence_;
};

}  // namespace lockstep::runner
