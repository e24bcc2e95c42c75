#pragma once
// The terminal or the standard input of rank 0 (`run --pty`, `run --stdin`), beside a job that is
// followed: attached when the job's ranks run. What rank 0 writes to its terminal is shown here;
// what it writes without one comes from its log, which has all of it, however early it was written.

#include <memory>
#include <optional>

#include "common/domain/job/spec.h"
#include "launcher/cli/attach/session.h"
#include "launcher/cli/base/verb_context.h"
#include "launcher/cli/follow/beside.h"
#include "launcher/cli/follow/watch.h"

namespace lockstep::cli {

class RankZeroTerminal : public Beside {
 public:
  // `kind`: pty or input. Ours is raw while rank 0 has one.
  RankZeroTerminal(Connection& connection, Terminal& terminal, TerminalKind kind);
  ~RankZeroTerminal() override;

  void on_job(const JobView& job) override;
  bool on_bulk(const BulkEnvelope& envelope) override;
  void on_bulk_up() override;
  void tick(Instant now) override;
  Instant next_deadline() const override;
  State state() const override;
  // False: rank 0 ended before it was attached, so its output is in its log alone.
  bool was_attached() const { return client_ && client_->is_opened(); }

 private:
  void attach(const JobView& job);
  void say_refusal();

  Connection& connection_;
  Terminal& terminal_;
  const TerminalKind kind_;
  std::optional<AttachClient> client_;
  bool is_refusal_said_ = false;
};

// Sets in `watch` what a run with `kind` needs, which may be nothing. `rank_zero` is used as long
// as `watch` is.
void connect_rank_zero(Context& context, RankZeroTerminal& rank_zero, TerminalKind kind,
                       WatchOptions& watch);

// The fault of --pty or --stdin here, and beside other flags of `run`; a usage error.
Status check_terminal(TerminalKind kind, bool detaches, bool is_array, bool prints_record);

}  // namespace lockstep::cli
