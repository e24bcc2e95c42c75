#pragma once
// Whether a command calls a program, as far as that shows without running it. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

// Whether lines of a shell script call a program. `program` is a bare name, one with the word
// behind it ("accelerate launch"), or a module ("python -m torch.distributed.run", of any
// python3.N); a line may call it with a path, behind settings (A=1 srun), through a program that
// starts another one (nice srun), and in `bash -c "…"`. Text in other quotes, except in "$(…)",
// does not count.
bool calls(std::string_view lines, std::string_view program);

// Whether words that no shell reads call a program, themselves or through a program that starts
// another one.
bool runs(const std::vector<std::string>& words, std::string_view program);

// Whether a file is a shell script, by its first line ("#!/usr/bin/env bash"), or without one by
// its name (job.sh).
bool is_shell_script(std::string_view file, std::string_view text);

}  // namespace lockstep::cli
