#pragma once
// Finds where the kernel puts the core file of a rank that a signal ended, by kernel.core_pattern
// (core(5)), and makes the command that finds it there, shows the stack of the thread that failed,
// and keeps or removes it. The command runs as the rank's user in the rank's place (core_files.h),
// because a reader of a core file parses data of the rank. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/domain/why/ranks/notes.h"

namespace lockstep::runner {

struct CorePlace {
  enum class Kind {
    files,    // in a folder that the rank sees, by `globs`
    systemd,  // systemd-coredump has the file: `coredumpctl`
    nowhere,  // cores go somewhere else: `taken` names the program, if there is one
  };
  Kind kind = Kind::files;
  std::vector<std::string> globs = {};  // relative ones: below the rank's working directory
  CoresGoElsewhere taken = {};
};

// Finds the place. `pattern`, `uses_pid`: the texts of kernel.core_pattern and
// kernel.core_uses_pid. A program that gets cores by a pipe runs outside of containers.
CorePlace core_place(std::string_view pattern, std::string_view uses_pid, bool in_container);

struct CoreOrder {
  int rank = 0;
  bool reads = true;       // shows the stack
  bool keeps = false;      // moves it to kept_core(); otherwise it is removed
  std::int64_t since = 0;  // finds only newer files, in seconds since 1970
  Bytes most;              // a larger one is not kept
};
std::string kept_core(int rank);  // "logs/core.rank3"
// The arguments of the command that looks for a core.
std::vector<std::string> core_command(const CorePlace& place, const CoreOrder& order);

// The output of that command.
struct CoreSaid {
  bool found = false;
  Bytes size;
  std::string tool;  // "": there is none, or none was asked for
  std::string text;  // the tool's output
  bool is_kept = false, too_large = false;
};
CoreSaid parse_core_said(std::string_view output);

}  // namespace lockstep::runner
