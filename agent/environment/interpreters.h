#pragma once
// The versions of this node's interpreters. Each interpreter is asked once, by starting it as the
// user who wants it, and again when its file has changed. So an attempt whose environment is ready
// starts no process. For worker threads.

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "agent/environment/cache.h"
#include "agent/environment/target.h"

namespace lockstep::agent {

class Interpreters {
 public:
  // `environment`: the agent's own, see tool_environment. `go_on` false: the agent is exiting; a
  // running interpreter is then ended.
  Interpreters(const EnvironmentCache& cache, std::string program,
               std::map<std::string, std::string> environment, std::function<bool()> go_on);

  // Asks an interpreter about itself. `name`: an absolute path, or a program on PATH. The errors
  // are those of envs/host: the program does not exist, or does not answer. `starting` is called
  // before the interpreter is started; when `is_wanted` returns false, the interpreter is ended.
  Result<Interpreter> ask(const std::string& name, const io::User& user,
                          const std::function<void()>& starting,
                          const std::function<bool()>& is_wanted);
  // The number of interpreters started so far, for tests.
  int starts() const;

 private:
  struct Look {  // identifies a file's version: any difference means that the file changed
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t mtime_ns = 0, ctime_ns = 0;
    friend bool operator==(const Look&, const Look&) = default;
  };
  struct Known {
    std::mutex asking;  // held while the interpreter is asked
    Look look;
    Interpreter interpreter;
  };
  static Look look_at(const std::string& path);
  Result<Interpreter> start(const std::string& name, const io::User& user,
                            const std::function<bool()>& is_wanted);

  const EnvironmentCache& cache_;
  const std::string program_;
  const std::map<std::string, std::string> environment_;
  const std::function<bool()> go_on_;
  mutable std::mutex mutex_;
  // by path and user
  std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<Known>> known_;
  int starts_ = 0;
};

}  // namespace lockstep::agent
