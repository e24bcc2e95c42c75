// Opens attachments: which rank they mean, and which program they start.

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <utility>

#include "runner/attach/attachments.h"
#include "runner/attach/standing_line.h"

namespace lockstep::runner {
namespace {

bool is_of_node(const AttachOrder& order) {
  return std::holds_alternative<AttachSignal>(order) || std::holds_alternative<AttachStacks>(order);
}

const char* name_of(const AttachOrder& order) {
  if (std::holds_alternative<AttachProgram>(order)) return "a program";
  if (std::holds_alternative<AttachMain>(order)) return "its terminal";
  return std::holds_alternative<AttachSignal>(order) ? "a signal" : "stacks";
}

}  // namespace

void Attachments::open(const AttachId& id, const AttachOpen& open) {
  if (One* const one = find(id)) {
    hear(*one);
    one->talk.open(open.have_output, open.have_error);
    return go_on(id);
  }
  if (const std::string why = why_not(id, open); !why.empty()) return refuse(id, why, false);
  const auto rank = rank_of(open);
  if (!rank) return refuse(id, rank.error().message, rank.error().code == ErrorCode::unavailable);
  AttachOpened about;
  about.attempt = facts_.attempt;
  about.rank = *rank;
  about.node_rank = facts_.node_rank;
  One& one = *(ones_[id] = std::make_unique<One>(std::move(about), streams_of(open.order)));
  one.heard = clock_.now();
  if (const Status begun = begin(id, one, open, *rank); !begun) {
    ones_.erase(id);
    return refuse(id, begun.error().message, false);
  }
  spdlog::info("attached to rank {}: {}", *rank, name_of(open.order));
  one.talk.open(0, 0);
  go_on(id);
}

// "": it may be opened; else the reason.
std::string Attachments::why_not(const AttachId& id, const AttachOpen& open) const {
  const std::string job = facts_.attempt.job.value;
  if (open.attempt != facts_.attempt || open.job != facts_.attempt.job)
    return fmt::format("that attempt of {} has ended", job);
  const bool was_open =
      open.again || gone_.count(id) != 0 || open.have_output > 0 || open.have_error > 0;
  if (was_open)
    return fmt::format("the attachment has ended: its node heard nothing of it for {}",
                       format_duration(kAttachSilence));
  if (!over_.empty()) return over_;
  if (ones_.size() >= kMaxAttachmentsOfPart)
    return fmt::format("{} attachments are open on this node of {}, which is the most; close one",
                       ones_.size(), job);
  const Status valid = validate(open.order);
  return valid ? "" : valid.error().message;
}

// The rank that an opening names. unavailable: it may be possible later.
Result<int> Attachments::rank_of(const AttachOpen& open) const {
  const int last = facts_.first_rank + facts_.ranks_here - 1;
  const int rank = open.rank.value_or(facts_.first_rank);
  const bool is_main = std::holds_alternative<AttachMain>(open.order);
  if (rank < facts_.first_rank || rank > last || (is_main && rank != 0))
    return make_error(ErrorCode::not_found, fmt::format("rank {} is not on this node, which has "
                                                        "ranks {} to {}",
                                                        rank, facts_.first_rank, last));
  if (is_main && main_ != nullptr) return rank;
  if (open.rank || !is_of_node(open.order)) {
    const RankHere* const here = place_.rank(rank);
    if (here == nullptr)
      return make_error(ErrorCode::unavailable, fmt::format("rank {} has not started yet", rank));
    if (!here->lives)
      return make_error(ErrorCode::conflict, fmt::format("rank {} has ended", rank));
    return rank;
  }
  if (!live_ranks(open, rank).empty()) return rank;
  for (int one = facts_.first_rank; one <= last; ++one)
    if (place_.rank(one) == nullptr)
      return make_error(ErrorCode::unavailable, "no rank of this node has started yet");
  return make_error(ErrorCode::conflict, "all ranks of this node have ended");
}

std::vector<int> Attachments::live_ranks(const AttachOpen& open, int rank) const {
  std::vector<int> ranks;
  for (int one = facts_.first_rank; one < facts_.first_rank + facts_.ranks_here; ++one) {
    const RankHere* const here = place_.rank(one);
    if (here != nullptr && here->lives && (!open.rank || one == rank)) ranks.push_back(one);
  }
  return ranks;
}

Conversation::Streams Attachments::streams_of(const AttachOrder& order) const {
  if (const auto* program = std::get_if<AttachProgram>(&order))
    return {program->terminal || program->takes_input, !program->terminal};
  const bool is_main = std::holds_alternative<AttachMain>(order);
  return {is_main, is_main && main_ != nullptr && !main_->is_terminal()};
}

Status Attachments::begin(const AttachId& id, One& one, const AttachOpen& open, int rank) {
  if (const auto* main = std::get_if<AttachMain>(&open.order)) return begin_main(id, one, *main);
  if (place_.spawn() == nullptr)
    return make_error(ErrorCode::unavailable, "the ranks of this node are being ended");
  if (const auto* program = std::get_if<AttachProgram>(&open.order))
    return begin_program(id, one, *program, rank);
  if (std::holds_alternative<AttachStacks>(open.order)) {
    begin_stacks(id, one, open, rank);
    return {};
  }
  const int number = std::get<AttachSignal>(open.order).number;
  for (const int each : live_ranks(open, rank)) {
    spdlog::info("signal {} to rank {}, as its user asks", number, each);
    signal(each, number);
  }
  one.talk.close(AttachStream::output);
  one.talk.end(0, "");
  return {};
}

Status Attachments::begin_program(const AttachId& id, One& one, const AttachProgram& order,
                                  int rank) {
  TRY_ASSIGN(const spawn::RankProcess process,
             attached_process(order, place_.rank(rank)->process, facts_.shell));
  TRY_ASSIGN(Stdio stdio, order.terminal ? open_terminal(order.size, facts_.uid)
                                         : open_pipes(order.takes_input, facts_.uid));
  TRY_ASSIGN(const int spawned,
             start(id, process, stdio, spawn::kKept | (order.terminal ? spawn::kTerminal : 0)));
  Program& program = one.what.emplace<Program>();
  program.rank = rank;
  program.id = spawned;
  program.name = process.program;
  program.streams = std::make_unique<AttachedProgram>(loop_, one.talk, std::move(stdio),
                                                      [this, id] { go_on(id); });
  return {};
}

// The newest client gets the streams: an earlier one may have lost its connection without closing.
Status Attachments::begin_main(const AttachId& id, One& one, const AttachMain& order) {
  if (main_ == nullptr)
    return make_error(ErrorCode::conflict,
                      "the standard input of rank 0 is not open: its job was not started by "
                      "`lockstep run --pty` or `--stdin`");
  for (const auto& [other, each] : ones_) {
    if (!std::holds_alternative<Main>(each->what)) continue;
    each->what.emplace<Done>();
    main_->detach();
    each->talk.close(AttachStream::output);
    each->talk.close(AttachStream::error);
    each->talk.end(kAttachFailed, "another client has attached to rank 0");
    while (auto body = each->talk.next()) place_.send({other, *std::move(body)});
  }
  one.what.emplace<Main>();
  main_->resize(order.size);
  if (main_code_) one.talk.end(*main_code_, "");
  main_->attach(one.talk, [this, id] { go_on(id); });
  return {};
}

void Attachments::begin_stacks(const AttachId& id, One& one, const AttachOpen& open, int rank) {
  std::vector<TracedProcess> processes;
  std::string unseen;
  for (const int each : live_ranks(open, rank)) {
    const auto found = processes_of_rank(each, place_.rank(each)->pid, place_.spawn_pid());
    if (found.empty())
      unseen += stack_line({{each, 0, "", false, true},
                            "",
                            "",
                            "the processes of this rank cannot be seen from outside of it"});
    processes.insert(processes.end(), found.begin(), found.end());
  }
  const AttachStacks& order = std::get<AttachStacks>(open.order);
  StackRun::Callbacks callbacks;
  callbacks.start = [this, id](int, const spawn::RankProcess& process, Stdio& stdio) {
    return start(id, process, stdio, spawn::kKept);
  };
  callbacks.kill = [this](int spawned) { kill(spawned); };
  callbacks.rank = [this](int which) -> const spawn::RankProcess* {
    const RankHere* const here = place_.rank(which);
    return here != nullptr && here->lives ? &here->process : nullptr;
  };
  auto run = std::make_unique<StackRun>(loop_, std::move(callbacks), std::move(processes),
                                        order.native, facts_);
  if (order.standings)
    for (const RankStanding& standing : place_.standings())
      if (!open.rank || standing.rank == rank) run->lines += standing_line(standing);
  run->lines += unseen;
  one.what = std::move(run);
}

Result<int> Attachments::start(const AttachId& owner, const spawn::RankProcess& process,
                               Stdio& stdio, int flags) {
  spawn::Client* const spawn = place_.spawn();
  if (spawn == nullptr)
    return make_error(ErrorCode::unavailable, "the ranks of this node are being ended");
  const int id = next_id_++;
  TRY(spawn->start(id, process, stdio.theirs[0].get(), stdio.theirs[1].get(), stdio.theirs[2].get(),
                   -1, flags));
  for (io::Fd& theirs : stdio.theirs) theirs.reset();
  by_spawned_[id] = owner;
  return id;
}

}  // namespace lockstep::runner
