#include "launcher/cli/scripts/distribution_notes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "common/base/quoted_name.h"
#include "common/base/split_words.h"
#include "common/io/file_system.h"
#include "launcher/cli/scripts/called_programs.h"
#include "launcher/cli/scripts/job_suggestion.h"
#include "launcher/cli/scripts/slurm_commands.h"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;
using Kind = Distribution::Kind;

constexpr std::size_t kMostRead = 4u << 20;
constexpr std::size_t kMostFiles = 8;  // the most files of a command that are read
constexpr std::size_t kMostNotesOfScript = 8;

bool calls_it(const Command& command, std::string_view program) {
  if (const auto* shell = std::get_if<ShellCommand>(&command)) return calls(shell->text, program);
  return runs(std::get<Argv>(command).words, program);
}

// All words that may name a file, including those in the text after a shell's -c.
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

// Whether a program is linked with MPI: its file names the libraries.
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

// The first file of the command that starts or expects other ranks than ours, unless it reads our
// variables.
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

constexpr std::array<std::string_view, 7> kMpiStarters{
    "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "horovodrun"};
constexpr std::array<std::string_view, 5> kTorchStarters{
    "torchrun", "python -m torch.distributed.run", "python -m torch.distributed.launch",
    "accelerate launch", "deepspeed"};

// Whether the job has one rank per node, which may start the other ranks of its node.
bool starts_ranks_of_node(const JobSpec& spec) {
  return spec.distribution.kind == Kind::pytorch ? spec.distribution.processes_per_node == 1
                                                 : spec.world_size() == 1;
}

std::string note_on_torch_starter(std::string_view who, std::string_view program) {
  return fmt::format(
      "{} calls `{}`, but Lockstep starts the ranks: write `python3 SCRIPT` with {} and one rank "
      "for each GPU (-n), or keep {} with one rank on each node",
      who, program, words_for("pytorch"), program);
}

// The note on a program that starts ranks: each rank would start as many ranks as it is told to
// start.
std::string note_on_starter(const JobSpec& spec, bool of_sbatch) {
  for (const std::string_view program : kMpiStarters)
    if (!of_sbatch && calls_it(spec.command, program))
      return fmt::format(
          "the command calls `{}`, but Lockstep starts the ranks: give the number with -N and -n, "
          "{}, and the program alone as the command",
          program, words_for("mpi"));
  if (starts_ranks_of_node(spec)) return "";
  for (const std::string_view program : kTorchStarters)
    if (calls_it(spec.command, program)) return note_on_torch_starter("the command", program);
  return "";
}

// Notes on the programs that a script in the source folder calls, with line numbers. A script that
// reads our variables is not reported.
std::vector<std::string> notes_on_script(const JobSpec& spec, const std::string& file,
                                         const std::string& text) {
  if (text.find("LOCKSTEP_") != std::string::npos) return {};
  std::vector<std::string> notes = notes_on_body(file, text);
  if (notes.size() > kMostNotesOfScript) notes.resize(kMostNotesOfScript);
  if (starts_ranks_of_node(spec)) return notes;
  for (const std::string_view program : kTorchStarters)
    if (calls(text, program)) {
      notes.push_back(note_on_torch_starter(quoted_name(file), program));
      break;
    }
  return notes;
}

std::vector<std::string> notes_on_scripts(const JobSpec& spec, const ReadSource& read,
                                          const std::string& sbatch) {
  std::vector<std::string> notes;
  std::set<std::string> seen;
  for (const std::string& word : words_of(spec.command)) {
    if (word.empty() || word[0] == '-' || word[0] == '/' || seen.size() >= kMostFiles) continue;
    if (seen.contains(word) || (!sbatch.empty() && word == sbatch)) continue;
    const auto text = read(word);
    if (!text) continue;
    seen.insert(word);
    if (!is_shell_script(word, *text)) continue;
    for (std::string& note : notes_on_script(spec, word, *text)) notes.push_back(std::move(note));
  }
  return notes;
}

// Notes on the command itself.
std::vector<std::string> notes_on_slurm_of(const JobSpec& spec) {
  std::string text;
  if (const auto* shell = std::get_if<ShellCommand>(&spec.command)) text = shell->text;
  if (const auto* argv = std::get_if<Argv>(&spec.command))
    for (const std::string& word : argv->words) text += word + "\n";
  return notes_on_slurm([&](std::string_view program) { return calls_it(spec.command, program); },
                        text,
                        [&](std::string_view name) {
                          return spec.environment_variables.contains(std::string(name));
                        });
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
                                            const std::string& sbatch) {
  if (spec.is_pipeline()) return {};
  const bool of_sbatch = !sbatch.empty();
  std::vector<std::string> notes = of_sbatch ? std::vector<std::string>() : notes_on_slurm_of(spec);
  for (std::string& note : notes_on_scripts(spec, read, sbatch)) notes.push_back(std::move(note));
  if (std::string note = note_on_starter(spec, of_sbatch); !note.empty()) {
    notes.insert(notes.begin(), std::move(note));
    return notes;
  }
  if (spec.distribution.kind != Kind::none || spec.world_size() < 2) return notes;
  const auto found = look_at_files(spec, read);
  if (!found) return notes;
  notes.push_back(
      fmt::format("{} uses {}, but its {} ranks know nothing of each other: each will be rank 0 "
                  "of 1; add {}",
                  quoted_name(found->file), found->mpi ? "MPI" : "torch.distributed",
                  spec.world_size(), words_for(found->mpi ? "mpi" : "pytorch")));
  return notes;
}

}  // namespace lockstep::cli
