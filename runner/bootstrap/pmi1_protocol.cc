#include "runner/bootstrap/pmi1_protocol.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace lockstep::runner {
namespace {

constexpr int kMaxName = 256;  // the most bytes of a key set's name, as in Hydra
constexpr std::size_t kMaxMessage = 1024;
constexpr char kNames[] = "publishing of names (MPI_Publish_name, MPI_Lookup_name, MPI_Open_port)";

std::optional<int> number(std::optional<std::string_view> text) {
  int value = 0;
  if (!text) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return value;
}

}  // namespace

// The words of a line. A value ends at a space; only the last one of an abort goes on to the end of
// the line.
class Pmi1Protocol::Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}

  std::optional<std::string_view> value(std::string_view key) const {
    const std::optional<std::string_view> rest = rest_from(key);
    return rest ? std::optional(rest->substr(0, rest->find(' '))) : std::nullopt;
  }
  // The text from the value of `key` to the end of the line.
  std::optional<std::string_view> rest_from(std::string_view key) const {
    for (std::size_t at = 0; at < line_.size();) {
      const std::string_view word = line_.substr(at);
      if (word.size() > key.size() && word.substr(0, key.size()) == key && word[key.size()] == '=')
        return word.substr(key.size() + 1);
      const std::size_t space = word.find(' ');
      if (space == word.npos) break;
      at += space + 1;
    }
    return {};
  }

 private:
  std::string_view line_;
};

const std::map<std::string_view, Pmi1Protocol::Handler>& Pmi1Protocol::handlers() {
  using Self = Pmi1Protocol;
  static const std::map<std::string_view, Handler> all = {
      {"init", &Self::init},
      {"get_maxes", &Self::get_maxes},
      {"get_my_kvsname", &Self::get_my_kvsname},
      {"get_appnum", &Self::get_appnum},
      {"get_universe_size", &Self::get_universe_size},
      {"put", &Self::put},
      {"get", &Self::get},
      {"barrier_in", &Self::barrier_in},
      {"finalize", &Self::finalize},
      {"abort", &Self::abort},
      {"publish_name", &Self::publish},
      {"unpublish_name", &Self::unpublish},
      {"lookup_name", &Self::lookup},
  };
  return all;
}

Status Pmi1Protocol::receive(int rank, std::string_view line) {
  if (in_spawn_.count(rank) > 0) {
    if (line != "endcmd") return {};
    in_spawn_.erase(rank);
    return refuse(rank, "spawn_result", "MPI_Comm_spawn");
  }
  const Words words(line);
  if (words.value("mcmd")) {
    in_spawn_.insert(rank);
    return {};
  }
  const auto name = words.value("cmd");
  const auto handler = name ? handlers().find(*name) : handlers().end();
  if (handler == handlers().end())
    return make_error(ErrorCode::invalid_argument, "it is not a command of PMI-1");
  return (this->*handler->second)(rank, words);
}

// Handles an init. A client of PMI-2 sends this, too, and leaves when it learns that the version
// differs.
Status Pmi1Protocol::init(int rank, const Words& words) {
  const bool is_ours = number(words.value("pmi_version")) == 1;
  events_.answer(rank, fmt::format("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc={}\n",
                                   is_ours ? 0 : -1));
  if (is_ours) events_.connected(rank);
  return {};
}

Status Pmi1Protocol::get_maxes(int rank, const Words&) {
  events_.answer(rank, fmt::format("cmd=maxes kvsname_max={} keylen_max={} vallen_max={} rc=0\n",
                                   kMaxName, kMaxPmi1Key, kMaxPmi1Value));
  return {};
}

Status Pmi1Protocol::get_my_kvsname(int rank, const Words&) {
  events_.answer(rank, fmt::format("cmd=my_kvsname kvsname={} rc=0\n", job_.name));
  return {};
}

Status Pmi1Protocol::get_appnum(int rank, const Words&) {
  events_.answer(rank, "cmd=appnum appnum=0 rc=0\n");
  return {};
}

Status Pmi1Protocol::get_universe_size(int rank, const Words&) {
  events_.answer(rank,
                 fmt::format("cmd=universe_size size={} rc=0\n", job_.nodes * job_.ranks_per_node));
  return {};
}

Status Pmi1Protocol::put(int rank, const Words& words) {
  const auto key = words.value("key");
  const auto value = words.value("value");
  if (!key || !value) return make_error(ErrorCode::invalid_argument, "put needs a key and a value");
  if (key->find('=') != key->npos)
    return make_error(ErrorCode::invalid_argument, "a key cannot contain '='");
  TRY(keys_.put(rank, *key, *value));
  events_.answer(rank, "cmd=put_result rc=0 msg=success\n");
  return {};
}

Status Pmi1Protocol::get(int rank, const Words& words) {
  const std::string key(words.value("key").value_or(""));
  const std::string* found = keys_.find(key);
  if (key == "PMI_process_mapping") {
    events_.answer(rank, "cmd=get_result rc=0 msg=success value=" + process_mapping() + "\n");
  } else if (found != nullptr) {
    events_.answer(rank, "cmd=get_result rc=0 msg=success value=" + *found + "\n");
  } else {
    events_.answer(rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  }
  return {};
}

// Blocks of ranks on consecutive nodes: the first node, the number of nodes, the ranks on each.
std::string Pmi1Protocol::process_mapping() const {
  return fmt::format("(vector,(0,{},{}))", job_.nodes, job_.ranks_per_node);
}

Status Pmi1Protocol::barrier_in(int rank, const Words& words) {
  if (words.value("group")) return refuse(rank, "barrier_out", "a barrier of some ranks (PMI 1.2)");
  in_barrier_.insert(rank);
  if (static_cast<int>(in_barrier_.size()) == job_.ranks_per_node)
    events_.barrier(keys_.take_new());
  return {};
}

void Pmi1Protocol::end_barrier(std::string_view new_keys_of_all_nodes) {
  keys_.add(new_keys_of_all_nodes);
  for (const int rank : std::exchange(in_barrier_, {}))
    events_.answer(rank, "cmd=barrier_out rc=0\n");
}

Status Pmi1Protocol::finalize(int rank, const Words&) {
  events_.answer(rank, "cmd=finalize_ack rc=0\n");
  events_.finalized(rank);
  return {};
}

Status Pmi1Protocol::abort(int rank, const Words& words) {
  const std::string_view message = words.rest_from("message").value_or("");
  events_.aborted(rank, number(words.value("exitcode")).value_or(1),
                  std::string(message.substr(0, kMaxMessage)));
  return {};
}

Status Pmi1Protocol::publish(int rank, const Words&) {
  return refuse(rank, "publish_result", kNames);
}

Status Pmi1Protocol::unpublish(int rank, const Words&) {
  return refuse(rank, "unpublish_result", kNames);
}

Status Pmi1Protocol::lookup(int rank, const Words&) {
  return refuse(rank, "lookup_result", kNames);
}

Status Pmi1Protocol::refuse(int rank, const std::string& answer, const std::string& what) {
  events_.refused(rank, what);
  events_.answer(rank, fmt::format("cmd={} rc=-1 msg=not_supported\n", answer));
  return {};
}

}  // namespace lockstep::runner
