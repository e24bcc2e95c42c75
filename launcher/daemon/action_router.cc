#include "launcher/daemon/action_router.h"

#include <functional>

namespace lockstep::launcher {

namespace {

// Each action has its own overload and there is no default, so a new action must be added here.
struct Router {
  const ActionOwners& owners;
  std::vector<std::function<void()>>& after_messages;
  bool& may_exit;

  void operator()(const SendDesired& action) const { owners.control.perform(action); }
  void operator()(const AcceptSession& action) const { owners.control.perform(action); }
  void operator()(const RefuseSession& action) const { owners.control.perform(action); }
  void operator()(const AskForSession& action) const { owners.control.perform(action); }
  void operator()(const AckObserved& action) const { owners.control.perform(action); }
  void operator()(const AckHeartbeat& action) const { owners.control.perform(action); }
  void operator()(const AllowNode& action) const { owners.control.perform(action); }
  void operator()(const RevokeNode& action) const { owners.control.perform(action); }
  void operator()(const AllowUser& action) const { owners.control.perform(action); }
  void operator()(const ReplySubmitted& action) const { owners.service.perform(action); }
  void operator()(const ReplyJoined& action) const { owners.control.perform(action); }
  void operator()(const ReplyDone& action) const { owners.service.perform(action); }
  void operator()(const ReplyRefused& action) const {
    if (!owners.control.refuse_join(action)) owners.service.perform(action);
  }
  void operator()(const ReplyDeleted& action) const { owners.service.perform(action); }
  void operator()(const ReplyEnvironment& action) const { owners.service.perform(action); }
  void operator()(const ReplyCompute& action) const { owners.service.perform(action); }
  void operator()(const ReplySizes& action) const { owners.service.perform(action); }
  void operator()(const ReplyAsset& action) const { owners.service.perform(action); }
  void operator()(const WriteOutput& action) const {
    later([&to = owners.outputs, &action] { to.perform(action); });
  }
  void operator()(const ExitDaemon& action) const {
    owners.service.perform(action);
    may_exit = true;
  }
  void operator()(const ReportRefused& action) const { owners.control.perform(action); }

  // Transfers that the key may no longer read are stopped before anything else is sent.
  void operator()(const RevokeUser& action) const {
    owners.control.perform(action);
    owners.service.perform(action);
    owners.bulk.check_followers();
  }
  void operator()(const UserChanged& action) const {
    owners.control.perform(action);
    owners.bulk.check_followers();
  }

  void operator()(const ReadersChanged&) const { owners.bulk.check_followers(); }

  // Tells those who watch the job first, then those who follow its logs.
  void operator()(const JobChanged& action) const {
    owners.service.perform(action);
    later([&to = owners, &action] {
      to.bulk.perform(action);
      to.metrics.perform(action);
    });
  }
  void operator()(const AwaitLogs& action) const {
    later([&to = owners.bulk, &action] { to.perform(action); });
  }
  void operator()(const MergeOutputs& action) const {
    later([&to = owners.bulk, &action] { to.perform(action); });
  }
  void operator()(const ForgetJob& action) const {
    later([&to = owners, &action] {
      to.audit.perform(action);
      to.bulk.perform(action);
      to.metrics.perform(action);
      to.compactor.perform(action);
    });
  }

  void operator()(const TreesReplaced& action) const {
    later([&to = owners.compactor, &action] { to.perform(action); });
  }

  // Calls come after messages, since starting a provider takes longer.
  void operator()(const CallProvider& action) const { call_provider(action); }
  void operator()(const StartProvider& action) const { call_provider(action); }
  void operator()(const HoldMachines& action) const { call_provider(action); }
  void operator()(const StopProvider& action) const { call_provider(action); }
  void operator()(const CheckProvider& action) const { call_provider(action); }
  void operator()(const ForgetCompute& action) const { call_provider(action); }
  template <typename ProviderAction>
  void call_provider(const ProviderAction& action) const {
    later([&to = owners.providers, &action] { to.perform(action); });
  }

  void later(std::function<void()> work) const { after_messages.push_back(std::move(work)); }
};

}  // namespace

bool perform_all(const ActionOwners& owners, const std::vector<Action>& actions) {
  std::vector<std::function<void()>> after_messages;
  bool may_exit = false;
  for (const Action& action : actions) std::visit(Router{owners, after_messages, may_exit}, action);
  owners.service.flush();
  owners.control.flush();
  for (const auto& work : after_messages) work();
  return may_exit;
}

}  // namespace lockstep::launcher
