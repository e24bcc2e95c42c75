#pragma once
// Runs the programs that providers need (python3, pip, uv, …), one at a time, to their end. What
// they print goes to our standard output, which is the build's log. It owns all that they start:
// when it is told to stop, and when a tool has ended, nothing of it is left. For the process of
// lockstep-env alone, which is made for one build.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::envs {

class Toolbox {
 public:
  using OnLine = std::function<void(std::string_view line)>;  // of a tool, as it comes
  // `environment` is all that tools see. `directory` exists. Makes this process the one that
  // orphans of tools come to, and SIGTERM and SIGINT end what runs.
  Toolbox(std::map<std::string, std::string> environment, std::string directory, OnLine on_line);

  struct Answer {
    int exit_code = 0;   // 128+n: signal n
    std::string output;  // standard output, when it is wanted; it is not in the log then
    std::string tail;    // the last lines of what went to the log
  };
  enum class Output { log, wanted };
  // The first word has a slash, or is looked up in the environment's PATH. Its line in the log says
  // what is run. not_found: there is no such program; conflict: stopped.
  Result<Answer> run(const std::vector<std::string>& words, Output output = Output::log);
  // `read`: what a line says of how far it is.
  using Reading = std::function<std::string(std::string_view line)>;
  Result<Answer> run_and_read(const std::vector<std::string>& words, const Reading& read);
  // Where the environment's PATH has it; "" = nowhere.
  std::string find(const std::string& program) const;
  // Runs a command that removes what a tool made elsewhere, to its end even when we were told to
  // stop. Must be brief.
  void clean_up(const std::vector<std::string>& words);
  // Gives processes that a tool left running some seconds to end before they are killed. Processes
  // with the names in `spared` are left alone: they are shared services.
  void await_leftovers(std::vector<std::string> spared);
  // One more variable for the tools that follow.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }
  std::string variable(const std::string& name) const;  // "" = not set
  const std::map<std::string, std::string>& variables() const { return environment_; }
  void use(std::map<std::string, std::string> variables) { environment_ = std::move(variables); }
  // conflict: told to stop.
  Status go_on() const;
  // A line of ours in the log.
  void say(std::string_view line) const;
  // The same, which is how far it is, too.
  void show(std::string_view line) const;
  // Reports progress with a line that is already in the log.
  void report(std::string_view line) const;
  // Nothing that we started is left when this returns.
  void end_all() const {
    end_leftovers([] { return true; });
  }

 private:
  Result<Answer> run_until(const std::vector<std::string>& words, Output output,
                           const OnLine& on_line, const std::function<bool()>& ends);
  void end_leftovers(const std::function<bool()>& ends) const;

  std::map<std::string, std::string> environment_;
  const std::string directory_;
  const OnLine on_line_;
  bool awaits_leftovers_ = false;
  std::vector<std::string> spared_;
};

inline constexpr std::size_t kMaxWantedBytes = 64 << 20;
inline constexpr std::size_t kMaxTailLines = 20;

}  // namespace lockstep::envs
