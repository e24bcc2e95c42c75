// Attachments to the ranks of this part: their interface to the runner, and their events.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "common/domain/environment/container_places.h"
#include "common/io/file_system.h"
#include "common/io/process.h"
#include "runner/runner.h"

namespace lockstep::runner {
namespace {

constexpr Duration kAnswersFor = seconds(2);
constexpr char kToolsFolder[] = "/tools";
constexpr char kPtraceScope[] = "/proc/sys/kernel/yama/ptrace_scope";

std::string folder_of_tools(bool in_container) {
  if (!in_container) return io::program_directory() + kToolsFolder;
  return io::bundle_directory() ? std::string(kBundleInside) + "/bin" + kToolsFolder : "";
}

}  // namespace

class Runner::RunnerAttachPlace final : public AttachPlace {
 public:
  explicit RunnerAttachPlace(Runner& runner) : runner_(runner) {}

  void send(const AttachFrame& frame) override { runner_.control_->tell(frame); }
  const RankHere* rank(int rank) const override {
    const auto found = runner_.ranks_here_.find(rank);
    return found == runner_.ranks_here_.end() ? nullptr : &found->second;
  }
  RankStandings standings() const override { return runner_.standings_; }
  spawn::Client* spawn() override {
    return runner_.spawner_is_lost() ? nullptr : runner_.setup_.isolation.spawn.get();
  }
  int spawn_pid() const override { return runner_.spawn_pid(); }
  void ended(int rank) override { runner_.note_kills_beside(rank); }
  // Handles the start of an attached program. Without a limit, ranks join their cgroups while they
  // start, and so does the program.
  void started(int rank, int pid) override {
    const auto& cgroups = runner_.setup_.isolation.cgroups;
    if (!cgroups || cgroups->limited()) return;
    runner_.joining_beside_.emplace_back(rank, pid);
    if (runner_.joiner_) return runner_.join_attached();
    if (runner_.join_at_ == Instant::never()) runner_.join_at_ = runner_.clock_.now() + kJoinAfter;
  }

 private:
  Runner& runner_;
};

AttachFacts Runner::attach_facts() const {
  const Assignment& assignment = orders_.assignment;
  const Container* const container = orders_.container();
  AttachFacts facts;
  facts.attempt = assignment.attempt;
  facts.node_rank = assignment.node_rank;
  facts.first_rank = assignment.first_rank();
  facts.ranks_here = assignment.ranks_here();
  facts.shell = container != nullptr ? container->shell : shell_of_account(setup_.run_as.shell);
  facts.uid = setup_.run_as.uid;
  facts.tools = folder_of_tools(container != nullptr);
  facts.ptrace_scope = io::read_file(kPtraceScope).value_or("0");
  return facts;
}

void Runner::open_to_attachments() {
  AttachFacts facts = attach_facts();
  attach_place_ = std::make_unique<RunnerAttachPlace>(*this);
  open_to_cores(facts.tools);
  attachments_ = std::make_unique<Attachments>(loop_, clock_, *attach_place_, std::move(facts));
}

void Runner::take_attach_frame(const AttachFrame& frame) {
  if (attachments_) return attachments_->take(frame);
  if (std::holds_alternative<AttachOpen>(frame.body))
    control_->tell(AttachFrame{frame.attachment,
                               AttachRefused{"the ranks of this node have not started yet", true}});
}

int Runner::spawn_pid() const {
  if (setup_.container) return setup_.container->spawn_pid();
  return setup_.isolation.spawn ? setup_.isolation.spawn->pid() : -1;
}

void Runner::note_rank(int rank, spawn::RankProcess process) {
  ranks_here_[rank].process = std::move(process);
}

void Runner::end_attachments() {
  if (attachments_) attachments_->end_all("the job's ranks on this node are being ended");
}

// Notes the attached programs that the kernel killed, as it does first when memory is short. Such a
// kill is not a failure of the rank, which still runs.
void Runner::note_kills_beside(int rank) {
  const auto found = ranks_here_.find(rank);
  if (found == ranks_here_.end() || !found->second.lives) return;
  const auto& cgroups = setup_.isolation.cgroups;
  if (setup_.container)
    (void)setup_.container->is_out_of_memory();  // later kills are counted from here
  else if (cgroups)
    killed_beside_[rank] = cgroups->killed_for_memory(rank - orders_.assignment.first_rank());
}

// Answers attachments after the part has ended for everybody else. Clients may still lack the last
// bytes, or ask for them.
void Runner::answer_attachments() {
  const Instant until = clock_.now() + kAnswersFor;
  while (attachments_ && attachments_->any() && clock_.now() < until) {
    loop_.turn(milliseconds(10));
    attachments_->expire(clock_.now());
  }
}

bool Runner::drain_main() {
  if (!main_) return true;
  if (!main_->drain([this] { return logs_.take_now(0); })) return false;
  if (attachments_) attachments_->main_drained();
  return true;
}

// Starts rank 0 of a job with a terminal or an open standard input. Its output also goes to the
// logs.
Status Runner::start_main(const spawn::RankProcess& process, LogCapture::Writers logs,
                          int connection) {
  const bool is_terminal = orders_.assignment.spec.terminal == TerminalKind::pty;
  TRY_ASSIGN(Stdio stdio, is_terminal ? open_terminal({}, setup_.run_as.uid)
                                      : open_pipes(true, setup_.run_as.uid));
  TRY(setup_.isolation.spawn->start(0, process, stdio.theirs[0].get(), stdio.theirs[1].get(),
                                    stdio.theirs[2].get(), connection,
                                    is_terminal ? spawn::kTerminal : 0));
  main_ = std::make_unique<MainStreams>(loop_, std::move(stdio), std::move(logs));
  if (attachments_) attachments_->set_main(main_.get());
  return {};
}

}  // namespace lockstep::runner
