#include "launcher/cli/distribution_notes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "common/base/quoted_name.h"
#include "common/base/split_words.h"
#include "common/io/file_system.h"
#include "launcher/cli/called_programs.h"
#include "launcher/cli/job_suggestion.h"

namespace lockstep::cli {

namespace {

using Kind = Distribution::Kind;

constexpr std::size_t kMostRead = 4u << 20;
constexpr std::size_t kMostFiles = 8;  // of a command that are looked at

// A shell's lines, or one line of words that no shell reads.
std::string text_of(const Command& command) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return shell->text;
  const std::vector<std::string>& words = std::get<Argv>(command).words;
  const auto base = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const bool is_shell = words.size() > 2 && base(words[0]).ends_with("sh") &&
                        words[1].starts_with('-') && words[1].find('c') != std::string::npos;
  return is_shell ? words[2] : words.empty() ? "" : base(words[0]);
}

bool calls_in(const std::string& text, std::string_view program) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find_first_not_of(" \t");
    if (first != line.npos && line[first] != '#' && calls(line, program)) return true;
  }
  return false;
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
  std::vector<std::string> words;
  if (const auto* argv = std::get_if<Argv>(&spec.command)) words = argv->words;
  if (const auto split = split_words(text_of(spec.command)))
    words.insert(words.end(), split->begin(), split->end());
  std::size_t looked_at = 0;
  for (const std::string& word : words) {
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
std::string note_on_starter(const JobSpec& spec, const std::string& text, bool of_sbatch) {
  for (const char* program : {"mpirun", "mpiexec", "srun"})
    if (!of_sbatch && calls_in(text, program))
      return fmt::format(
          "the command calls `{}`, but Lockstep starts the ranks: give the number with -N and -n, "
          "{}, and the program alone as the command",
          program, words_for("mpi"));
  const bool is_torch = spec.distribution.kind == Kind::pytorch;
  const int per_node = spec.distribution.processes_per_node;
  const bool is_ours = is_torch ? per_node == 1 : spec.world_size() == 1;
  if (is_ours || !calls_in(text, "torchrun")) return "";
  return fmt::format(
      "the command calls `torchrun`, but Lockstep starts the ranks: write `python3 SCRIPT` with {} "
      "and one rank for each GPU (-n), or keep torchrun with one rank on each node",
      words_for("pytorch"));
}

}  // namespace

ReadSource source_reader(const std::string& folder) {
  return [folder](const std::string& path) -> std::optional<std::string> {
    const std::string whole = folder + "/" + path;
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
  if (std::string note = note_on_starter(spec, text_of(spec.command), of_sbatch); !note.empty())
    return {std::move(note)};
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
