#include "launcher/api/json/found.h"

#include "launcher/words/found/say_found.h"
#include "launcher/words/found/say_path.h"

namespace lockstep::api {

void keys(const Of<FoundRank>& of, See& see) {
  const FoundRank& rank = *of.value;
  see("rank", rank.rank, "The global rank.");
  see("node_name", words::node_name(*of.names, rank.node_rank), "Its node.");
  see("doing", rank.doing,
      "What it does: `computes`, `waits`, `reads`, `locks`, `sleeps`, `serves`, `starts`, "
      "`stopped`, `device`, `exited`.");
  see("call", unless_empty(rank.call),
      "The system call in which it is blocked; null: none, or unknown, or the reader may not read "
      "the job.");
  see("on", unless_empty(rank.on),
      "What the descriptor of that call is: a file, or the address of a peer; null: as for "
      "`call`.");
  see("at", unless_empty(rank.at),
      "The top of its stack that is the job's own, such as `eval.py:88`; null: as for `call`.");
  see("cpus", static_cast<double>(rank.cpu_milli) / 1000.0,
      "How many cores it used while this was found out.", kAnyNumber);
}

void keys(const Of<Found>& of, See& see) {
  const Found& found = *of.value;
  const words::Said said = words::say(found, *of.names);
  see.page("found", "Finding",
           "What a gang found out about its ranks while they run: who waits for whom, who is "
           "stopped, slow or gone.");
  see("kind", found.kind, "What was found.");
  see("verdict", found.verdict,
      "`hangs`: an alarm, for which `lockstep.on_hang` acts. `waits`: ranks wait, which may be as "
      "it should. `notice`: all else.");
  see("text", said.what, "The cause and its place, in words.");
  see("remedy", unless_empty(said.remedy), "What to do about it; null: nothing.");
  see("since", found.since, "Since when it holds; null: unknown.");
  see("seconds", Duration(std::chrono::floor<milliseconds>(found.lasting)),
      "For how long it has held.");
  see("ranks", each_of(found.ranks, *of.names),
      "The ranks that differ from the others; the one that is named comes first.");
  see("waiting", found.waiting, "Global numbers of the ranks that wait for them, sorted.");
  see("fact", unless_empty(found.fact),
      "A name that belongs to the kind: a collective, a version, what makes a rank slow; null: "
      "none.");
  see("here", found.here,
      "The number of these ranks that differs: how many collectives they have launched, or of a "
      "slow rank thousandths of the median.",
      kAnyNumber);
  see("elsewhere", found.elsewhere, "The same number of the other ranks; 0: there is none.",
      kAnyNumber);
}

// ---- the network --------------------------------------------------------------------------------

void keys(const Of<ChosenPath>& of, See& see) {
  const ChosenPath& path = *of.value;
  see("node_name", words::node_name(*of.names, path.node_rank), "The node.");
  see("interface", path.interface, "The interface that reaches the others fastest.");
  see("address", path.address, "Its address.");
  see("round_trip", unless_zero(path.round_trip),
      "The median round trip to the others, in seconds; null: not measured.");
  see("mbps", unless_negative(path.speed_mbps),
      "Megabits per second of a burst; null: not measured.");
  see("mtu", unless_zero(path.mtu),
      "The largest packet that reaches all others, in bytes; null: unknown.");
}

void keys(const Of<PathFailure>& of, See& see) {
  const PathFailure& failure = *of.value;
  const words::Said said = words::say(failure, *of.names);
  see("from", words::node_name(*of.names, failure.from), "The node that cannot reach the other.");
  see("to", words::node_name(*of.names, failure.to), "The other node.");
  see("from_address", unless_empty(failure.from_address),
      "The address from which it tried; null: unknown.");
  see("from_interface", unless_empty(failure.from_interface),
      "The interface of that address; null: unknown.");
  see("to_address", unless_empty(failure.to_address), "The address of the other; null: unknown.");
  see("port", unless_zero(failure.port), "The TCP port; null: unknown.", kFromOne);
  see("trouble", failure.trouble, "What happened.");
  see("mtu", unless_zero(failure.mtu),
      "Of lost large packets: bytes of the largest that came through; null: unknown.");
  see("text", said.what, "The same in words.");
  see("remedy", unless_empty(said.remedy), "What to do about it; null: nothing.");
}

void keys(const Of<ProbeResult>& of, See& see) {
  const ProbeResult& probe = *of.value;
  see("broken", probe.broken,
      "So many of the failures, the first ones, are of addresses that the nodes would use: the "
      "attempt ended for them. The others are of networks that are not used.");
  see("cached", probe.cached, "It is the result of an earlier attempt on the same nodes.");
  see("chosen", each_of(probe.chosen, *of.names),
      "The interface of each node, in the order of node ranks, of the first 64; empty in `job "
      "list`.");
  see("failures", each_of(probe.failures, *of.names), "Nodes that cannot reach each other.");
}

void keys(const NetworkSetting& setting, See& see) {
  see("name", setting.name, "The variable.");
  see("value", setting.value, "Its value.");
  see("source", setting.source,
      "Who chose it: the user, the operator (fabric.yml), the probe, or Lockstep for all jobs "
      "(fixed).");
  see("reason", setting.reason, "Why it has this value.");
  see("warning", unless_empty(setting.warning), "Why it may be a mistake; null: it looks right.");
}

// A whole view has its parts by node rank, so that a name is mostly found at its place.
words::About names_in(const std::string& job, const AttemptView& attempt) {
  return {job, [&parts = attempt.parts](int node_rank) {
            const auto place = static_cast<std::size_t>(node_rank);
            if (place < parts.size() && parts[place].node_rank == node_rank)
              return parts[place].node_name;
            for (const PartView& part : parts)
              if (part.node_rank == node_rank) return part.node_name;
            return std::string();
          }};
}

}  // namespace lockstep::api
