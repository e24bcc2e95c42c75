#pragma once
// The versions of this node's interpreters. Each is started once, as the user who needs it, and
// again when its file has changed, so that using a ready environment starts no process. For worker
// threads.

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
  // `environment`: ours, see tool_environment. `go_on` ends what is asked.
  Interpreters(const EnvironmentCache& cache, std::string program,
               std::map<std::string, std::string> environment, std::function<bool()> go_on);

  // `name`: an absolute path, or a name on PATH. Errors as of envs/host: not found, or no answer.
  // `starting` is called before the interpreter is started; it is killed when `is_wanted` says
  // false.
  Result<Interpreter> ask(const std::string& name, const io::User& user,
                          const std::function<void()>& starting,
                          const std::function<bool()>& is_wanted);
  // How often one was started, for tests.
  int starts() const;

 private:
  struct Look {  // the file; another one when a part differs
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t mtime_ns = 0, ctime_ns = 0;
    friend bool operator==(const Look&, const Look&) = default;
  };
  struct Known {
    std::mutex asking;  // one at a time
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
  std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<Known>> known_;  // path, user
  int starts_ = 0;
};

}  // namespace lockstep::agent
