#pragma once
// The order in which a launcher takes inputs, writes facts and performs actions. A turn's facts are
// written first; its actions and answers follow when the facts are durable. During the write the
// core does not change, because actions and answers read its state when they are made: inputs wait
// in order, and become the next turn. Only heartbeats are noted and acknowledged.
// docs/decisions/044-journal-writer.md.
//
// This class writes and performs nothing itself. The caller's loop is, again and again: feed()
// inputs, then end(); write the facts and later call written(); perform the actions and call
// performed().

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "launcher/core/core.h"

namespace lockstep::launcher {

class Turns {
 public:
  struct Core {
    std::function<Instant()> now;
    // handles an input, as Core::handle
    std::function<Step(Instant, const Input&, bool more)> handle;
    std::function<Heard(Instant, const HeartbeatInput&)> hear;
    std::function<Instant()> next_deadline;
    // If set, takes facts of a turn that has not ended, so that they are encoded in the meantime.
    // They come before the facts of end(), and become durable with them.
    std::function<void(std::vector<StampedFact>)> write_ahead = nullptr;
  };
  explicit Turns(Core core);
  // The first end() returns these actions: their facts are durable (Core::resume).
  void resume(std::vector<Action> actions);

  void feed(const Input& input);
  // Runs a request that reads the state and may feed inputs: at once, or in its order among the
  // waiting inputs. Its answer must be sent like an action of the turn.
  void ask(std::function<void()> request);
  // Runs `work` when the whole state is durable, which may be at once.
  void when_durable(std::function<void()> work);
  // Feeds a tick when one is due.
  void tick();
  // The news of the steps since the last call (Step::news).
  std::vector<NodeNews> take_news() { return std::exchange(news_, {}); }

  struct Turn {
    bool writes = false;  // write `facts` after the facts of write_ahead, then call written()
    std::vector<StampedFact> facts;
    std::vector<Action> actions;  // perform them now, then call performed()
  };
  // Ends a turn. If it has facts, its actions come from the first end() after written(), except
  // those that depend on no fact.
  Turn end();
  void written();
  void performed();
  // Stops the core from changing until written(), without facts. Only from when_durable().
  void stand_still();

  // Whether an input would be handled at once.
  bool takes_now() const { return running_ || (phase_ == Phase::open && waiting_.empty()); }
  // Whether facts are being written: from an end() with facts, or stand_still(), until written().
  bool is_writing() const { return phase_ == Phase::writing; }
  // Whether end() has nothing to return now.
  bool idle() const;
  // How long until something is due; Duration::max(): nothing before the next input or written().
  Duration wait() const;

 private:
  // written: the held actions can be performed. performing: end() returned actions.
  enum class Phase { open, writing, written, performing };
  using Waiting = std::variant<Input, std::function<void()>>;

  void handle(const Input& input, bool more = false);
  void put_off(const Input& input);
  bool has_facts() const { return !facts_.empty() || went_ahead_; }
  bool is_durable() const { return phase_ == Phase::open && !has_facts(); }
  void run(const Waiting& waiting);

  const Core core_;
  Phase phase_ = Phase::open;
  bool running_ = false;  // a waiting input or request is being handled
  bool owes_ = false;  // the last input was handled with more = true, so that rules are still due
  bool went_ahead_ = false;  // facts of this turn were given to write_ahead
  std::vector<StampedFact> facts_;
  std::vector<Action> actions_;  // actions whose facts are not durable yet
  std::vector<NodeNews> news_;
  std::vector<Action> urgent_;  // acknowledgements of heartbeats, which depend on no fact
  std::deque<Waiting> waiting_;
  std::map<PublicKey, std::size_t> waiting_of_node_;
  std::deque<std::function<void()>> until_durable_;
};

// The most messages of one node that wait; further ones are dropped, because a node repeats what
// was not acknowledged.
inline constexpr std::size_t kMaxWaitingOfNode = 8;
// The most inputs and requests of one turn that waited for a write; the others follow in the next
// turn.
inline constexpr std::size_t kMaxInputsOfTurn = 2'000;
// The number of facts that are passed to write_ahead together.
inline constexpr std::size_t kFactsAhead = 64;

}  // namespace lockstep::launcher
