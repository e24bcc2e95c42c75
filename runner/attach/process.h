#pragma once
// The process of a program that is attached to a rank: the parts that it shares with the rank, and
// its standard streams, a terminal or pipes, whose other ends are the runner's. Starts nothing.

#include <string>

#include "common/domain/runners/attach_frames.h"
#include "common/io/file_system.h"
#include "runner/spawn/client.h"

namespace lockstep::runner {

// Makes a process like the rank's, with another command and without the variables by which MPI
// would take it for the rank: a program that calls MPI_Init in a shell is a world of its own.
// `shell`: the program if the order names none; "": the rank has no shell here, which is an error.
Result<spawn::RankProcess> attached_process(const AttachProgram& order,
                                            const spawn::RankProcess& rank,
                                            const std::string& shell);

// The shell of an account on this node: its own if that exists and is a shell; otherwise bash;
// otherwise sh.
std::string shell_of_account(const std::string& shell);

// The standard streams. Ours are non-blocking.
struct Stdio {
  io::Fd theirs[3];
  io::Fd input, output, error;  // our ends; for a terminal, `output` is all three
  bool is_terminal = false;
};
// Opens a terminal. Its ends belong to `uid`, so that the program may open /dev/stdout or its
// terminal again.
Result<Stdio> open_terminal(TerminalSize size, std::uint32_t uid);
// Opens pipes. Without input, standard input is /dev/null.
Result<Stdio> open_pipes(bool takes_input, std::uint32_t uid);
void set_size(int terminal, TerminalSize size);
// The bytes by which a terminal's program reads the end of its input, after a whole line or within
// one; "": it reads bytes as they are.
std::string end_of_input(int terminal, bool within_line);

}  // namespace lockstep::runner
