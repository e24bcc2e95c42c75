#include "launcher/words/found/say_found.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/domain/data/outputs.h"

namespace lockstep::words {

namespace {

constexpr std::size_t kMostNodesNamed = 3;
constexpr std::size_t kMostOfCycle = 3;  // for so many ranks, the sentence says where each one is

struct DoingWords {
  std::string_view doing, one, several;
};
// Sentences for the words of common/domain/ranks/standing.h.
constexpr DoingWords kDoing[] = {
    {"starts", "is starting", "are starting"},
    {"computes", "computes", "compute"},
    {"waits", "waits for a peer", "wait for a peer"},
    {"reads", "reads", "read"},
    {"locks", "waits for a lock", "wait for a lock"},
    {"sleeps", "sleeps", "sleep"},
    {"serves", "waits for connections", "wait for connections"},
    {"stopped", "is stopped", "are stopped"},
    {"device", "is blocked in the kernel", "are blocked in the kernel"},
    {"exited", "has exited", "have exited"},
};

std::string doing_text(const FoundRank& rank, bool several) {
  for (const DoingWords& words : kDoing)
    if (words.doing == rank.doing) return std::string(several ? words.several : words.one);
  return several ? "do something else" : "does something else";
}

// "connect() to 10.0.0.4:29500", "read() on /data/a.bin".
std::string call_text(const FoundRank& rank) {
  std::string text = shown(rank.call) + "()";
  if (rank.on.empty()) return text;
  return text + (rank.call == "connect" ? " to " : " on ") + shown(rank.on);
}

// "computes in eval.py:88", "reads, in read() on /data/a.bin, at dataset.py:41".
std::string activity(const FoundRank& rank, bool several = false) {
  std::string text = doing_text(rank, several);
  if (!rank.call.empty()) text += ", in " + call_text(rank);
  if (rank.at.empty()) return text;
  const bool plain = rank.doing == "computes" && rank.call.empty();
  return text + (plain ? " in " : rank.call.empty() ? " at " : ", at ") + shown(rank.at);
}

std::vector<int> numbers_of(const std::vector<FoundRank>& ranks) {
  std::vector<int> numbers;
  for (const FoundRank& rank : ranks) numbers.push_back(rank.rank);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Words one finding: its parts, and a sentence for each kind.
class Finding {
 public:
  Finding(const Found& found, const About& about)
      : found_(found), about_(about), several_(found.ranks.size() != 1) {}

  Said said() const;
  std::string over() const;

 private:
  FoundRank first() const { return found_.ranks.empty() ? FoundRank() : found_.ranks.front(); }
  std::string node() const { return node_name(about_, first().node_rank); }
  std::string time() const { return lasting_text(found_.lasting); }
  std::string fact(std::string_view otherwise) const {
    return found_.fact.empty() ? std::string(otherwise) : shown(found_.fact);
  }
  std::string has() const { return several_ ? "have" : "has"; }
  std::string is() const { return several_ ? "are" : "is"; }
  std::string it() const { return several_ ? "they" : "it"; }
  std::string who() const;
  std::string which() const;
  std::string waiting() const { return ranks_text(found_.waiting); }
  std::string waiting_has() const { return found_.waiting.size() == 1 ? "has" : "have"; }
  std::string while_others_wait() const;
  std::string command(std::string_view verb, std::string_view rest = "") const;
  std::string stacks() const;
  std::string cancel() const {
    return fmt::format("`lockstep job cancel {}` ends the job", shown(about_.job));
  }

  bool meets_in_torch() const { return found_.about == FoundAbout::rendezvous; }
  std::string meeting() const;
  std::string look_at_writer() const;
  Said not_started() const;
  Said waits() const;
  Said cycle() const;
  std::string how_it_ends() const;
  std::string node_of(int number) const;
  std::string differing_places() const;
  Said dead_lock() const;
  Said stopped() const;
  Said device_wait() const;
  Said peer_gone() const;
  Said unequal_counts() const;
  Said missed_fence() const;
  Said two_claims() const;
  Said left_early() const;
  Said slow() const;
  Said different_versions() const;

  const Found& found_;
  const About& about_;
  const bool several_;
};

// "rank 3 on n3", "ranks 3–9 on n3 and n4", "ranks 3–200 on 26 nodes".
std::string Finding::who() const {
  std::vector<int> nodes;
  for (const FoundRank& rank : found_.ranks)
    if (std::find(nodes.begin(), nodes.end(), rank.node_rank) == nodes.end())
      nodes.push_back(rank.node_rank);
  const std::string ranks = ranks_text(numbers_of(found_.ranks));
  if (nodes.empty()) return ranks;
  if (nodes.size() > kMostNodesNamed) return fmt::format("{} on {} nodes", ranks, nodes.size());
  std::string names;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    names += (i == 0 ? "" : i + 1 == nodes.size() ? " and " : ", ") + node_name(about_, nodes[i]);
  return ranks + " on " + names;
}

// ", which computes in eval.py:88"; if the ranks do different things, the first one's activity.
std::string Finding::which() const {
  if (found_.ranks.empty() || first().doing.empty()) return "";
  const bool alike =
      std::all_of(found_.ranks.begin(), found_.ranks.end(), [this](const FoundRank& rank) {
        return rank.doing == first().doing && rank.call == first().call && rank.at == first().at;
      });
  if (alike) return ", which " + activity(first(), several_);
  return fmt::format("; rank {} {}", first().rank, activity(first()));
}

std::string Finding::while_others_wait() const {
  if (found_.waiting.empty()) return "";
  return fmt::format("; {} {} for {}", waiting(), found_.waiting.size() == 1 ? "waits" : "wait",
                     several_ ? "them" : "it");
}

// "`lockstep job stacks train --rank 3`", for the first rank.
std::string Finding::command(std::string_view verb, std::string_view rest) const {
  const std::string rank = found_.ranks.empty() ? "" : fmt::format(" --rank {}", first().rank);
  return fmt::format("`lockstep job {} {}{}{}{}`", verb, shown(about_.job), rank,
                     rest.empty() ? "" : " ", rest);
}

std::string Finding::stacks() const {
  return command("stacks") + (several_ ? " shows where the first is" : " shows where it is");
}

// "the rendezvous (torch's init_process_group)".
std::string Finding::meeting() const {
  if (meets_in_torch()) return "the rendezvous (torch's init_process_group)";
  return fact("MPI_Init or the rendezvous");
}

Said Finding::not_started() const {
  std::string what = fmt::format("{} {} not reached {} for {}", who(), has(), meeting(), time());
  const std::string rank = several_ ? fmt::format("rank {}", first().rank) : "it";
  if (!first().call.empty())
    what += fmt::format("; {} is in {}{}", rank, call_text(first()),
                        first().at.empty() ? "" : ", at " + shown(first().at));
  else if (!first().doing.empty() && first().doing != "starts")
    what += fmt::format("; {} {}", rank, activity(first()));
  const std::string call = meets_in_torch() ? "init_process_group" : fact("that call");
  if (first().call != "connect" || first().on.empty())
    return {what, fmt::format("the others wait for {} there: move what rank {} does before {} to "
                              "after it, or remove it; {}; {}",
                              several_ ? "them" : "it", first().rank, call, stacks(), cancel())};
  return {what, fmt::format("see that {} may reach {} (a firewall, another network) and that a "
                            "rank listens there; {}",
                            node(), shown(first().on), stacks())};
}

// The text of a wait. Adds how often the first rank and those ahead have launched the collective.
Said Finding::waits() const {
  std::string what =
      found_.waiting.empty()
          ? fmt::format("{} {} held the others up for {}", who(), has(), time())
          : fmt::format("{} {} waited {} for {}", waiting(), waiting_has(), time(), who());
  what += which();
  if (!found_.fact.empty())
    what += fmt::format("; {} has launched {} of {}, the others {}",
                        several_ ? fmt::format("rank {}", first().rank) : it(), found_.here,
                        shown(found_.fact), found_.elsewhere);
  return {what, fmt::format("{} may go on, so nothing is done about it; {}{}", it(), stacks(),
                            look_at_writer())};
}

// The advice for a rank that reads and gets no data.
std::string Finding::look_at_writer() const {
  if (first().doing != "reads" || first().on.empty()) return "";
  const std::string on = shown(first().on);
  const bool is_lock = first().call == "flock" || first().call == "fcntl";
  if (on.starts_with("/dev/pts/") || on.starts_with("/dev/tty"))
    return fmt::format("; it waits for what is typed at its terminal; {}", cancel());
  const std::string where =
      is_lock ? fmt::format("`lslocks` on {} shows who holds the lock of {}", node(), on)
      : on.starts_with('/')
          ? fmt::format("look at the file system of {} on {}, or at what should write to the file",
                        on, node())
      : on.starts_with("a pipe")
          ? "look at what should write to the pipe (a data-loader worker or a subprocess that has "
            "died or waits itself)"
          : fmt::format("look at what should send on {}", on);
  return fmt::format("; {}; if that is only slow, wait; else {}", where, cancel());
}

// Ranks that wait for each other, with the rest in `waiting`; or a rank whose own threads wait for
// a lock.
Said Finding::cycle() const {
  if (found_.about == FoundAbout::lock) return dead_lock();
  std::vector<int> all = numbers_of(found_.ranks);
  all.insert(all.end(), found_.waiting.begin(), found_.waiting.end());
  std::string what =
      fmt::format("{} {}{}, and nothing has moved for {}", ranks_text(all),
                  found_.verdict == FoundVerdict::hangs ? "wait for each other" : "all wait",
                  found_.fact.empty() ? "" : " in " + shown(found_.fact), time());
  const std::string places = differing_places();
  what += places;
  for (std::size_t i = 0; places.empty() && i < found_.ranks.size() && i < kMostOfCycle; ++i) {
    const FoundRank& rank = found_.ranks[i];
    what += fmt::format("{} rank {} on {} {}", i == 0 ? ":" : ";", rank.rank,
                        node_name(about_, rank.node_rank), activity(rank));
  }
  const std::string look =
      fmt::format("`lockstep job stacks {}` shows where each is", shown(about_.job));
  if (found_.verdict != FoundVerdict::hangs)
    return {
        what,
        "they may move where it is not seen, or wait for a server, so nothing is done about it; " +
            look};
  const std::string fix =
      places.empty()
          ? ""
          : fmt::format(
                "all ranks must make the same collective calls in the same order, and each "
                "receive needs its send: look for an `if` on the rank near {}; ",
                shown(first().at));
  return {what, fix + look + how_it_ends()};
}

// The sentence's end. Only a hang ends a job; if it already ends this one, no remedy is needed.
std::string Finding::how_it_ends() const {
  const bool may_end = found_.verdict == FoundVerdict::hangs && !about_.ends_on_hang;
  return may_end ? "; --on-hang fail (lockstep.on_hang in a job file) ends such a job" : "";
}

std::string Finding::node_of(int number) const {
  for (const FoundRank& rank : found_.ranks)
    if (rank.rank == number) return node_name(about_, rank.node_rank);
  return "";
}

// ": rank 1 on n1 is at train.py:8; ranks 0 and 2–3 are at train.py:7", the first rank first; "":
// all are at one place, or a place is unknown.
std::string Finding::differing_places() const {
  std::vector<std::pair<std::string, std::vector<int>>> places;
  for (const FoundRank& rank : found_.ranks) {
    if (rank.at.empty()) return "";
    const auto place = std::find_if(places.begin(), places.end(),
                                    [&](const auto& one) { return one.first == rank.at; });
    if (place == places.end())
      places.push_back({rank.at, {rank.rank}});
    else
      place->second.push_back(rank.rank);
  }
  if (places.size() < 2) return "";
  std::string text;
  for (std::size_t i = 0; i < places.size() && i < kMostOfCycle; ++i) {
    auto& [at, ranks] = places[i];
    const std::string on = ranks.size() == 1 ? " on " + node_of(ranks.front()) : "";
    text += fmt::format("{} {}{} {} at {}", i == 0 ? ":" : ";", ranks_text(ranks), on,
                        ranks.size() == 1 ? "is" : "are", shown(at));
  }
  return text;
}

Said Finding::dead_lock() const {
  const std::string at = first().at.empty() ? "" : " at " + shown(first().at);
  return {fmt::format("{} {} waited {}{} for a lock that nobody releases: no thread of {} runs{}",
                      who(), has(), time(), at, several_ ? "theirs" : "it", while_others_wait()),
          "one thread takes the lock twice, or two take two locks in another order: fix it; " +
              stacks() + how_it_ends()};
}

Said Finding::stopped() const {
  return {fmt::format("{} {} been stopped for {} (SIGSTOP, Ctrl-Z or a debugger){}", who(), has(),
                      time(), while_others_wait()),
          several_
              ? fmt::format("let them go on with `lockstep job signal {} CONT`, which goes to all "
                            "ranks",
                            shown(about_.job))
              : "let it go on with " + command("signal", "CONT")};
}

Said Finding::device_wait() const {
  const std::string where = first().call.empty() ? "" : ", in " + call_text(first());
  return {fmt::format("{} {} been blocked in the kernel for {} (state D){}{}", who(), has(), time(),
                      where, while_others_wait()),
          fmt::format("a disk, a network file system or a driver of {0} does not answer: look at "
                      "`dmesg` there; `lockstep node drain {0}` gives it no new job",
                      node())};
}

Said Finding::peer_gone() const {
  const bool exited = first().doing == "exited";
  const std::string why = found_.fact.empty() ? "" : fmt::format(" ({})", shown(found_.fact));
  std::string what =
      found_.waiting.empty()
          ? fmt::format("{} {}", who(), exited ? has() + " exited" : "cannot be reached")
          : fmt::format("{} {} waited {} for {}, {}", waiting(), waiting_has(), time(), who(),
                        exited ? "which " + has() + " exited" : "whose node cannot be reached");
  const std::string end =
      fmt::format("`lockstep job cancel {}` ends the others", shown(about_.job));
  if (exited) return {what + why, command("logs") + " has its last output; " + end};
  return {what + why,
          fmt::format("`lockstep node show {}` says what is known of the node; {}", node(), end)};
}

Said Finding::unequal_counts() const {
  return {fmt::format("{} {} launched {} of {}, the others {}, and none has moved for {}", who(),
                      has(), found_.here, fact("the collectives"), found_.elsewhere, time()),
          fmt::format("the ranks disagree about which collective is next; `lockstep job stacks {}` "
                      "shows which rank skipped one",
                      shown(about_.job))};
}

Said Finding::missed_fence() const {
  const std::string fence = fact("a barrier of all ranks");
  std::string what = found_.waiting.empty()
                         ? fmt::format("{} can never enter {}", who(), fence)
                         : fmt::format("{} {} been in {} for {}, which {} can never enter",
                                       waiting(), waiting_has(), fence, time(), who());
  if (!first().doing.empty()) what += fmt::format(": {} {}", it(), activity(first(), several_));
  return {what, "every rank must make the same calls up to MPI_Finalize; " + command("logs") +
                    " has its last output"};
}

Said Finding::two_claims() const {
  const std::string of = found_.fact.empty() ? "" : fmt::format(" ({})", shown(found_.fact));
  return {fmt::format("{} processes claim {}: one that it started has called MPI_Init again{}",
                      found_.here > 2 ? std::to_string(found_.here) : "two", who(), of),
          "start workers only below `if __name__ == \"__main__\":`, and let them import no "
          "mpi4py.MPI"};
}

Said Finding::left_early() const {
  const std::string others = found_.waiting.empty()
                                 ? "others wait"
                                 : waiting() + (found_.waiting.size() == 1 ? " waits" : " wait");
  return {fmt::format("{} exited with code 0 {} ago, while {} for {}", who(), time(), others,
                      several_ ? "them" : "it"),
          fmt::format(
              "a rank must not end before the last collective; see why {} left ({}): often it had "
              "fewer batches than the others (give all ranks the same number), or only this rank "
              "ran a `return` or sys.exit(); {}{}",
              it(), command("logs"), cancel(),
              about_.ends_on_hang
                  ? ""
                  : "; --on-hang fail (lockstep.on_hang in a job file) ends a job that hangs")};
}

Said Finding::slow() const {
  const double times = found_.elsewhere > 0 ? static_cast<double>(found_.here) /
                                                  static_cast<double>(found_.elsewhere)
                                            : static_cast<double>(found_.here) / 1000.0;
  std::string what = fmt::format("{} {} slower than the others", who(), is());
  if (times > 0) what += fmt::format(": {:.1f} times the median of all ranks", times);
  what += fmt::format(" for {}", time());
  if (!found_.fact.empty()) what += "; " + shown(found_.fact);
  return {what,
          fmt::format("`lockstep node show {0}` shows what else uses the node: stop that, or "
                      "drain it (`lockstep node drain {0}`) and run the job again; if {1} {2} "
                      "more to do than the others, share the work evenly",
                      node(), ranks_text(numbers_of(found_.ranks)), has())};
}

Said Finding::different_versions() const {
  return {fmt::format("the ranks use different versions: {} {} {}", who(), has(),
                      fact("other libraries than the rest")),
          "give all nodes one environment: --conda-file, --requirements or --image (environment in "
          "a job file)"};
}

Said Finding::said() const {
  switch (found_.kind) {
    case FoundKind::not_started: return not_started();
    case FoundKind::waits: return waits();
    case FoundKind::cycle: return cycle();
    case FoundKind::stopped: return stopped();
    case FoundKind::device_wait: return device_wait();
    case FoundKind::peer_gone: return peer_gone();
    case FoundKind::unequal_counts: return unequal_counts();
    case FoundKind::missed_fence: return missed_fence();
    case FoundKind::two_claims: return two_claims();
    case FoundKind::left_early: return left_early();
    case FoundKind::slow: return slow();
    case FoundKind::different_versions: return different_versions();
  }
  return {};
}

std::string Finding::over() const {
  const std::string no_longer_wait =
      found_.waiting.empty() ? fmt::format("nobody waits for {} any more", who())
                             : fmt::format("{} no longer {} for {}", waiting(),
                                           found_.waiting.size() == 1 ? "waits" : "wait", who());
  switch (found_.kind) {
    case FoundKind::not_started: return fmt::format("{} {} reached {}", who(), has(), meeting());
    case FoundKind::waits:
    case FoundKind::peer_gone:
    case FoundKind::missed_fence:
    case FoundKind::left_early: return no_longer_wait;
    case FoundKind::cycle: return fmt::format("{} {} on", who(), several_ ? "go" : "goes");
    case FoundKind::stopped: return fmt::format("{} {} on again", who(), several_ ? "go" : "goes");
    case FoundKind::device_wait:
      return fmt::format("{} {} no longer blocked in the kernel", who(), is());
    case FoundKind::unequal_counts: return "the collectives of the ranks move again";
    case FoundKind::two_claims: return fmt::format("one process claims {} again", who());
    case FoundKind::slow: return fmt::format("{} {} as fast as the others again", who(), is());
    case FoundKind::different_versions: return "the ranks use the same versions";
  }
  return "";
}

}  // namespace

Said say(const Found& found, const About& about) {
  Said said = Finding(found, about).said();
  if (found.verdict != FoundVerdict::hangs) return said;
  said.what = "hang: " + said.what;
  if (about.stacks_of_attempt != 0)
    said.remedy += (said.remedy.empty() ? "" : "; ") + say_kept_stacks(about);
  return said;
}

std::string say_kept_stacks(const About& about) {
  if (about.stacks_of_attempt == 0) return "";
  return fmt::format(
      "the stacks of all ranks are kept: `lockstep job files {0}` lists them, `lockstep job cat "
      "{0} "
      "{1}/{2}` prints those of {3}",
      shown(about.job), kLogsFolder, stacks_file(about.stacks_of_attempt, 0), node_name(about, 0));
}

std::string say_over(const Found& found, const About& about) {
  return Finding(found, about).over();
}

std::string say_cause(const Found& found, const About& about) {
  return Finding(found, about).said().what;
}

bool is_same(const Found& a, const Found& b) {
  return a.kind == b.kind && a.verdict == b.verdict && numbers_of(a.ranks) == numbers_of(b.ranks);
}

}  // namespace lockstep::words
