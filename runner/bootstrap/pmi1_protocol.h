#pragma once
// PMI-1, version 1.1, as MPICH's own process manager Hydra speaks it: what one node answers to the
// lines of its ranks. It knows each rank's state and the node's keys; it does no I/O. Every line
// may be hostile.
//
// A line is "cmd=NAME key=value …", its end not included. The commands of a client, and the
// answers:
//   init pmi_version=1 pmi_subversion=1   response_to_init
//   get_maxes                             maxes: the longest names, keys and values
//   get_my_kvsname                        my_kvsname: the name of the job's only set of keys
//   get_appnum, get_universe_size         appnum, universe_size
//   put key=K value=V                     put_result
//   get key=K                             get_result; PMI_process_mapping says who shares a node
//   barrier_in                            barrier_out, when all ranks of the job are in the barrier
//   finalize                              finalize_ack
//   abort exitcode=N message=TEXT         none
// "mcmd=spawn" has further lines up to "endcmd". It and published names are refused.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "runner/bootstrap/pmi1_keys.h"

namespace lockstep::runner {

class Pmi1Protocol {
 public:
  struct Job {
    std::string name;  // the name of its set of keys: unique, without spaces, at most 256 bytes
    int nodes = 1;
    int ranks_per_node = 1;
    int first_rank = 0;  // the first rank of this node
  };
  struct Events {
    std::function<void(int rank)> connected, finalized;
    std::function<void(int rank, int code, std::string message)> aborted;
    std::function<void(int rank, std::string what)> refused;
    // sends an answer, including the line's end
    std::function<void(int rank, const std::string& line)> answer;
    // Called when all ranks of this node are in a barrier: end_barrier() follows, maybe before this
    // returns.
    std::function<void(std::string new_keys)> barrier;
  };

  Pmi1Protocol(Job job, Events events) : job_(std::move(job)), events_(std::move(events)) {}

  // Handles a line. Returns an error if it does not follow the protocol, or if the rank exceeds a
  // limit. Nothing more may be read from this rank then.
  Status receive(int rank, std::string_view line);
  // Whether a rank is in a barrier; receive() must then not be called for it.
  bool is_in_barrier(int rank) const { return in_barrier_.count(rank) > 0; }
  void end_barrier(std::string_view new_keys_of_all_nodes);

 private:
  class Words;
  using Handler = Status (Pmi1Protocol::*)(int rank, const Words& words);
  static const std::map<std::string_view, Handler>& handlers();

  Status init(int rank, const Words& words);
  Status get_maxes(int rank, const Words& words);
  Status get_my_kvsname(int rank, const Words& words);
  Status get_appnum(int rank, const Words& words);
  Status get_universe_size(int rank, const Words& words);
  Status put(int rank, const Words& words);
  Status get(int rank, const Words& words);
  Status barrier_in(int rank, const Words& words);
  Status finalize(int rank, const Words& words);
  Status abort(int rank, const Words& words);
  Status publish(int rank, const Words& words);
  Status unpublish(int rank, const Words& words);
  Status lookup(int rank, const Words& words);
  Status refuse(int rank, const std::string& answer, const std::string& what);
  std::string process_mapping() const;

  Job job_;
  Events events_;
  Pmi1Keys keys_;
  std::set<int> in_barrier_;
  std::set<int> in_spawn_;  // ranks whose next lines belong to a "mcmd"
};

}  // namespace lockstep::runner
