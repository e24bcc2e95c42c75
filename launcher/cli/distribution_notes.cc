#include "launcher/cli/distribution_notes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "common/base/quoted_name.h"
#include "common/base/split_words.h"
#include "common/io/file_system.h"
#include "launcher/cli/called_programs.h"
#include "launcher/cli/job_suggestion.h"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;
using Kind = Distribution::Kind;

constexpr std::size_t kMostRead = 4u << 20;
constexpr std::size_t kMostFiles = 8;  // of a command that are looked at

bool calls_it(const Command& command, std::string_view program) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return calls(shell->text, program);
  return runs(std::get<Argv>(command).words, program);
}

// All that may name a file, also in the text that a shell is given with -c.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  const auto add_words_of = [&](const std::string& text) {
    if (const auto split = split_words(text))
      words.insert(words.end(), split->begin(), split->end());
  };
  if (const auto* shell = std::get_if<ShellCommand>(&command)) {
    add_words_of(shell->text);
    return words;
  }
  words = std::get<Argv>(command).words;
  for (const std::string& text : std::get<Argv>(command).words)
    if (text.find_first_of(" \t\n") != std::string::npos) add_words_of(text);
  return words;
}

// Of a program, not of a script: the libraries that it is linked with stand in its file.
bool is_linked_with_mpi(const std::string& text) {
  if (!text.starts_with("\x7f"
                        "ELF"))
    return false;
  for (const char* library : {"libmpi.so", "libmpich.so", "libmpi_cxx.so", "libpmi"})
    if (text.find(library) != std::string::npos) return true;
  return false;
}

struct Found {
  std::string file;
  bool mpi = false, torch = false;
};

// The first file of the command that asks for other ranks, unless it reads ours.
std::optional<Found> look_at_files(const JobSpec& spec, const ReadSource& read) {
  std::size_t looked_at = 0;
  for (const std::string& word : words_of(spec.command)) {
    if (word.empty() || word[0] == '-' || word[0] == '/' || looked_at >= kMostFiles) continue;
    const auto text = read(word);
    if (!text) continue;
    ++looked_at;
    if (text->find("LOCKSTEP_RANK") != std::string::npos) return std::nullopt;
    const bool is_program = text->starts_with(
        "\x7f"
        "ELF");
    const ScriptLook look = is_program ? ScriptLook{} : look_at(*text);
    const bool mpi = look.uses_mpi || is_linked_with_mpi(*text);
    if (mpi || look.uses_torch_distributed) return Found{word, mpi, look.uses_torch_distributed};
  }
  return std::nullopt;
}

std::string words_for(const char* kind) {
  return fmt::format("--distribution {0} (distribution.type: {0} in a job file)", kind);
}

// Each rank would start all of the ranks that such a program is told to start.
std::string note_on_starter(const JobSpec& spec, bool of_sbatch) {
  for (const char* program : {"mpirun", "mpiexec", "srun"})
    if (!of_sbatch && calls_it(spec.command, program))
      return fmt::format(
          "the command calls `{}`, but Lockstep starts the ranks: give the number with -N and -n, "
          "{}, and the program alone as the command",
          program, words_for("mpi"));
  const bool is_torch = spec.distribution.kind == Kind::pytorch;
  const int per_node = spec.distribution.processes_per_node;
  const bool is_ours = is_torch ? per_node == 1 : spec.world_size() == 1;
  if (is_ours || !calls_it(spec.command, "torchrun")) return "";
  return fmt::format(
      "the command calls `torchrun`, but Lockstep starts the ranks: write `python3 SCRIPT` with {} "
      "and one rank for each GPU (-n), or keep torchrun with one rank on each node",
      words_for("pytorch"));
}

}  // namespace

ReadSource source_reader(const std::string& source) {
  std::error_code failure;
  const std::string only = fs::is_regular_file(source, failure)
                               ? fs::path(source).lexically_normal().filename().string()
                               : "";
  return [source, only](const std::string& path) -> std::optional<std::string> {
    if (!only.empty() && fs::path(path).lexically_normal() != only) return std::nullopt;
    const std::string whole = only.empty() ? source + "/" + path : source;
    const io::Fd file(::open(whole.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    std::string text(std::min<std::size_t>(kMostRead, static_cast<std::size_t>(info.st_size)),
                     '\0');
    std::size_t have = 0;
    while (have < text.size()) {
      const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
      if (got <= 0) break;
      have += static_cast<std::size_t>(got);
    }
    text.resize(have);
    return text;
  };
}

std::vector<std::string> distribution_notes(const JobSpec& spec, const ReadSource& read,
                                            bool of_sbatch) {
  if (spec.is_pipeline()) return {};
  if (std::string note = note_on_starter(spec, of_sbatch); !note.empty()) return {std::move(note)};
  if (spec.distribution.kind != Kind::none || spec.world_size() < 2) return {};
  const auto found = look_at_files(spec, read);
  if (!found) return {};
  return {
      fmt::format("{} uses {}, but its {} ranks know nothing of each other: each will be rank 0 "
                  "of 1; add {}",
                  quoted_name(found->file), found->mpi ? "MPI" : "torch.distributed",
                  spec.world_size(), words_for(found->mpi ? "mpi" : "pytorch"))};
}

}  // namespace lockstep::cli
