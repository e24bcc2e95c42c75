#pragma once
// Runs the programs that providers need (python3, pip, uv, …), one at a time, to their end. Their
// output goes to our standard output, which is the build's log. It owns every process that they
// start: after a tool has ended or a stop, all its processes are gone. Only for lockstep-env, which
// is a process for one build.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace lockstep::envs {

class Toolbox {
 public:
  using OnLine = std::function<void(std::string_view line)>;  // called for each line of a tool
  // `environment` is the whole environment of tools. `directory` must exist. Makes this process the
  // subreaper of the tools' orphans; from now on, SIGTERM and SIGINT end the running tool.
  Toolbox(std::map<std::string, std::string> environment, std::string directory, OnLine on_line);

  struct Answer {
    int exit_code = 0;   // 128+n: signal n
    std::string output;  // standard output with Output::wanted; then it is not in the log
    std::string tail;    // the last lines that went to the log
  };
  enum class Output { log, wanted };
  // Runs a program and logs its command line. The first word has a slash, or is looked up in the
  // environment's PATH. Returns not_found if the program is missing, and conflict if stopped.
  Result<Answer> run(const std::vector<std::string>& words, Output output = Output::log);
  // Turns an output line into a progress text.
  using Reading = std::function<std::string(std::string_view line)>;
  Result<Answer> run_and_read(const std::vector<std::string>& words, const Reading& read);
  // The uses of a tool's standard input and output. An error of a use ends the tool, and run_with
  // returns it.
  struct Streams {
    std::function<Result<std::string_view>()> next = {};  // the input's next bytes; "" = its end
    std::function<Status(std::string_view)> take = {};    // gets bytes of the output
  };
  Result<Answer> run_with(const std::vector<std::string>& words, const Streams& streams);
  // The path of a program on the environment's PATH; "" = not found.
  std::string find(const std::string& program) const;
  // Runs a short command to its end even after a stop, to remove things that a tool made outside
  // this process.
  void clean_up(const std::vector<std::string>& words);
  // Gives processes that tools leave running a few seconds to end before they are killed. Processes
  // with the names in `spared` are never killed: all users of a program share them.
  void await_leftovers(std::vector<std::string> spared);
  // Sets a variable for the tools that run from now on.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }
  std::string variable(const std::string& name) const;  // "": it is not set
  const std::map<std::string, std::string>& variables() const { return environment_; }
  void use(std::map<std::string, std::string> variables) { environment_ = std::move(variables); }
  // conflict: the build was told to stop.
  Status go_on() const;
  // Logs a line of ours.
  void say(std::string_view line) const;
  // Logs a line and reports it as progress.
  void show(std::string_view line) const;
  // Reports a line as progress without logging it.
  void report(std::string_view line) const;
  // Ends every process that we started.
  void end_all() const {
    end_leftovers([] { return true; });
  }

 private:
  Result<Answer> run_until(const std::vector<std::string>& words, Output output,
                           const OnLine& on_line, const std::function<bool()>& ends,
                           const Streams& streams);
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
