#include "launcher/cli/sbatch/batch_script.h"

#include <fmt/format.h>

#include <charconv>
#include <ctime>
#include <optional>
#include <utility>

#include "common/base/quoted_name.h"
#include "common/grammar/slurm_time.h"
#include "launcher/cli/sbatch/begin_time.h"
#include "launcher/cli/sbatch/interpreter.h"
#include "launcher/cli/sbatch/option_lines.h"
#include "launcher/cli/scripts/slurm_commands.h"

namespace lockstep::cli {

namespace {

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string> split_at(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

// Reads a size of Slurm; without a unit it is in megabytes.
std::optional<Bytes> size_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_bytes(whole(text) ? text + "m" : text);
}

// Reads a number of GPUs: "2", "a100:2" or "a100"; nullopt: another text.
std::optional<int> gpus_of(const std::string& text) {
  const auto parts = split_at(text, ':');
  if (parts.size() > 2 || parts[0].empty()) return std::nullopt;
  if (parts.size() == 2) return whole(parts[1]);
  if (const auto number = whole(parts[0])) return number;
  const bool is_type =
      (parts[0][0] >= 'a' && parts[0][0] <= 'z') || (parts[0][0] >= 'A' && parts[0][0] <= 'Z');
  return is_type ? std::optional(1) : std::nullopt;
}

// The settings of one script, combined.
class Request {
 public:
  Request(const std::string& file, RunArguments& arguments) : file_(file), arguments_(arguments) {}

  Result<std::vector<std::string>> apply(const std::vector<SbatchSetting>& settings) {
    for (const SbatchSetting& setting : settings) TRY(take(setting));
    TRY(put_together());
    return std::move(notes_);
  }

 private:
  Error error(int line, std::string_view message,
              ErrorCode code = ErrorCode::invalid_argument) const {
    return make_error(code, fmt::format("{}:{}: {}", quoted_name(file_), line, message));
  }
  void note(const SbatchSetting& setting, std::string_view message) {
    notes_.push_back(fmt::format("{}:{}: #SBATCH {} is not used: {}", quoted_name(file_),
                                 setting.line, quoted_name(setting.name), message));
  }
  Error bad(const SbatchSetting& setting, std::string_view wanted) const {
    return error(setting.line, fmt::format("#SBATCH {}: '{}' is not {}", quoted_name(setting.name),
                                           setting.value, wanted));
  }
  Status number(const SbatchSetting& setting, std::optional<int>& out) {
    out = whole(setting.value);
    if (!out || *out < 1) return bad(setting, "a number of at least 1");
    return {};
  }
  static void set(std::string& argument, const std::string& value) {
    if (argument.empty()) argument = value;
  }

  Status take(const SbatchSetting& setting) {
    if (setting.option == nullptr) {
      note(setting, "Lockstep does not know it");
      return {};
    }
    switch (setting.option->use) {
      case SbatchUse::nodes: return take_nodes(setting);
      case SbatchUse::ntasks: return number(setting, tasks_);
      case SbatchUse::ntasks_per_node: return number(setting, tasks_per_node_);
      case SbatchUse::cpus_per_task: return number(setting, cpus_per_task_);
      case SbatchUse::mem: return take_memory(setting, memory_);
      case SbatchUse::mem_per_cpu: return take_memory(setting, memory_per_cpu_);
      case SbatchUse::gres: return take_gres(setting);
      case SbatchUse::gpus: return take_gpus(setting, gpus_);
      case SbatchUse::gpus_per_node: return take_gpus(setting, gpus_per_node_);
      case SbatchUse::gpus_per_task: return take_gpus(setting, gpus_per_task_);
      case SbatchUse::time: return take_time(setting);
      case SbatchUse::export_variables: return take_export(setting);
      case SbatchUse::dependency: return take_dependency(setting);
      case SbatchUse::begin: return take_begin(setting);
      case SbatchUse::signal: return take_signal(setting);
      case SbatchUse::job_name: set(arguments_.display_name, setting.value); return {};
      case SbatchUse::array: set(arguments_.array, setting.value); return {};
      case SbatchUse::partition: take_partition(setting); return {};
      case SbatchUse::nodelist: set(arguments_.nodelist, setting.value); return {};
      case SbatchUse::exclusive: arguments_.isolated = true; return {};
      case SbatchUse::requeue: requeue_ = &setting; return {};
      case SbatchUse::no_requeue:
        if (!arguments_.retry) arguments_.retry = 0;
        return {};
      case SbatchUse::none: return {};
      case SbatchUse::said: note(setting, setting.option->instead); return {};
      case SbatchUse::refused:
        return error(setting.line,
                     fmt::format("#SBATCH {}: {}", setting.name, setting.option->instead),
                     ErrorCode::unsupported);
    }
    return {};
  }

  // "2" or "2-4"; the lower number is used.
  Status take_nodes(const SbatchSetting& setting) {
    const auto parts = split_at(setting.value, '-');
    nodes_ = whole(parts[0]);
    if (!nodes_ || *nodes_ < 1 || parts.size() > 2) return bad(setting, "a number of nodes");
    if (parts.size() == 2 && parts[1] != parts[0])
      notes_.push_back(fmt::format("{}:{}: #SBATCH {} {}: the job gets {} nodes",
                                   quoted_name(file_), setting.line, setting.name, setting.value,
                                   *nodes_));
    return {};
  }

  // Takes a size of memory; 0 means all of the node, like leaving the option out.
  Status take_memory(const SbatchSetting& setting, std::optional<Bytes>& out) {
    out.reset();
    if (setting.value == "0") return {};
    out = size_of(setting.value);
    if (!out) return bad(setting, "a size, such as 4000 (megabytes) or 16G");
    return {};
  }

  Status take_gres(const SbatchSetting& setting) {
    for (const std::string& one : split_at(setting.value, ',')) {
      if (one != "gpu" && !one.starts_with("gpu:")) {
        if (one != "none")
          note(setting, fmt::format("nodes have no resource {}", quoted_name(one)));
        continue;
      }
      const auto gpus = one == "gpu" ? std::optional(1) : gpus_of(one.substr(4));
      if (!gpus) return bad(setting, "a number of GPUs, such as gpu:2");
      gpus_per_node_ = gpus;
      say_type(setting, one);
    }
    return {};
  }

  // "2" or "a100:2".
  Status take_gpus(const SbatchSetting& setting, std::optional<int>& out) {
    out = gpus_of(setting.value);
    if (!out) return bad(setting, "a number of GPUs, of one type");
    say_type(setting, "gpu:" + setting.value);
    return {};
  }

  void say_type(const SbatchSetting& setting, const std::string& gres) {
    const auto parts = split_at(gres, ':');
    const bool has_type = parts.size() > 2 || (parts.size() == 2 && !whole(parts[1]));
    if (has_type)
      notes_.push_back(
          fmt::format("{}:{}: the GPUs' type {} is not used: name labels of nodes "
                      "with --label KEY=VALUE",
                      quoted_name(file_), setting.line, quoted_name(parts[1])));
  }

  Status take_time(const SbatchSetting& setting) {
    if (setting.value == "UNLIMITED" || setting.value == "INFINITE" || setting.value == "0")
      return {};
    const auto limit = parse_slurm_time(setting.value);
    if (!limit || *limit < seconds(1))
      return bad(setting, "a time, such as 90 (minutes), 1:30:00 or 2-12 (days-hours)");
    set(arguments_.timeout, fmt::format("{}s", *limit / seconds(1)));
    return {};
  }

  Status take_begin(const SbatchSetting& setting) {
    const auto begin = begin_of_sbatch(setting.value, std::time(nullptr));
    if (!begin) return bad(setting, "a time, such as now+1hour, 16:00 or 2026-11-26T18:00:00");
    set(arguments_.begin, *begin);
    return {};
  }

  // "USR1" or "B:USR1@60". Ranks are the batch shells here, so both mean the same; "R" is for
  // reservations.
  Status take_signal(const SbatchSetting& setting) {
    std::string text = setting.value;
    if (const auto colon = text.find(':'); colon != text.npos) text.erase(0, colon + 1);
    if (const auto signal = early_signal_from(text); !signal)
      return error(setting.line, "#SBATCH --signal: " + signal.error().message);
    signal_ = &setting;
    set(arguments_.signal, text);
    return {};
  }

  // Takes a partition. Slurm uses the first free one of the list; here a job has one target.
  void take_partition(const SbatchSetting& setting) {
    const auto names = split_at(setting.value, ',');
    if (names.size() > 1 && arguments_.compute.empty())
      notes_.push_back(
          fmt::format("{}:{}: #SBATCH {} {}: the job goes to the target {}; for "
                      "another one, --compute NAME",
                      quoted_name(file_), setting.line, setting.name, quoted_name(setting.value),
                      quoted_name(names[0])));
    set(arguments_.compute, names[0]);
  }

  Status take_export(const SbatchSetting& setting) {
    bool wants_all = false;
    std::vector<std::string> named;
    for (const std::string& one : split_at(setting.value, ',')) {
      if (one == "NONE" || one == "NIL") continue;
      if (one == "ALL")
        wants_all = true;
      else
        named.push_back(one);
    }
    if (wants_all) note_on_all(setting, named);
    exported_.insert(exported_.end(), named.begin(), named.end());
    return {};
  }

  void note_on_all(const SbatchSetting& setting, const std::vector<std::string>& named) {
    constexpr std::string_view kInstead = "name what it needs with --env NAME";
    if (named.empty())
      return note(setting, fmt::format("the job gets no variables of this shell; {}", kInstead));
    std::string names;
    for (const std::string& one : named)
      names += (names.empty() ? "" : ", ") + quoted_name(one.substr(0, one.find('=')));
    notes_.push_back(
        fmt::format("{}:{}: #SBATCH {}: the job gets {}; 'ALL' is not used, so it gets no other "
                    "variables of this shell; {}",
                    quoted_name(file_), setting.line, quoted_name(setting.name), names, kInstead));
  }

  Status take_dependency(const SbatchSetting& setting) {
    for (const std::string& one : split_at(setting.value, ',')) {
      const auto parts = split_at(one, ':');
      const bool on_end = parts[0] == "afterany";
      if (!on_end && parts[0] != "afterok") {
        note(setting, fmt::format("{}: only afterok and afterany are possible; see --after",
                                  quoted_name(one)));
        continue;
      }
      for (std::size_t i = 1; i < parts.size(); ++i)
        arguments_.after.push_back(parts[i] + (on_end ? ":ended" : ""));
    }
    return {};
  }

  // Joins --requeue and --signal. A script that gets a warning before its time limit saves its
  // state and is queued again. Without a warning, exceeding the limit is a failure.
  void put_requeue_together() {
    if (requeue_ == nullptr || arguments_.timeout.empty() || !arguments_.retry_on.empty()) return;
    if (signal_ != nullptr) {
      arguments_.retry_on = "infrastructure,timeout";
      notes_.push_back(fmt::format(
          "{}:{}: #SBATCH {}: the job is tried again when its time is over, too, at most {} times "
          "(--retry-on infrastructure,timeout; --retry)",
          quoted_name(file_), requeue_->line, requeue_->name,
          arguments_.retry.value_or(RetryPolicy{}.max)));
      return;
    }
    notes_.push_back(fmt::format(
        "{}:{}: #SBATCH {}: the job is tried again if a node is lost; for another try when its "
        "time is over, add --retry-on infrastructure,timeout",
        quoted_name(file_), requeue_->line, requeue_->name));
  }

  // Checks the signal, which is sent before a time limit ends and so needs one.
  void check_signal() {
    if (signal_ == nullptr || !arguments_.timeout.empty()) return;
    note(*signal_, "it comes before the end of --time, and the script has none");
    arguments_.signal.clear();
  }

  // The numbers of nodes and of ranks on each, from the numbers that the script has.
  Status put_ranks_together() {
    if (tasks_per_node_ && tasks_ && !nodes_) {
      if (*tasks_ % *tasks_per_node_ != 0) return uneven(*tasks_, "ranks", *tasks_per_node_);
      nodes_ = *tasks_ / *tasks_per_node_;
    }
    if (tasks_per_node_ && tasks_ && 1LL * *nodes_ * *tasks_per_node_ != *tasks_)
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("{}: --ntasks={} is not --nodes={} times --ntasks-per-node={}",
                                    quoted_name(file_), *tasks_, *nodes_, *tasks_per_node_));
    if (!arguments_.nodes && nodes_) arguments_.nodes = nodes_;
    if (!arguments_.ranks && tasks_per_node_) arguments_.ranks = tasks_per_node_;
    if (!arguments_.ranks && tasks_) {
      const int nodes = arguments_.nodes.value_or(1);
      if (*tasks_ % nodes != 0) return uneven(*tasks_, "ranks (--ntasks)", nodes);
      arguments_.ranks = *tasks_ / nodes;
    }
    return {};
  }

  // The options that follow from several lines of the script. Those of the command line win.
  Status put_together() {
    put_requeue_together();
    check_signal();
    TRY(put_ranks_together());
    const int nodes = arguments_.nodes.value_or(1);
    const int ranks = arguments_.ranks.value_or(1);
    if (!arguments_.cpus && cpus_per_task_) {
      TRY_ASSIGN(arguments_.cpus, times(*cpus_per_task_, ranks, "--cpus-per-task"));
    }
    // Without a number of cpus, Slurm gives one to each task.
    if (!memory_ && memory_per_cpu_) {
      memory_ = Bytes{};
      if (__builtin_mul_overflow(memory_per_cpu_->count,
                                 static_cast<std::uint64_t>(arguments_.cpus.value_or(ranks)),
                                 &memory_->count))
        return too_large("--mem-per-cpu");
    }
    if (memory_) set(arguments_.memory, std::to_string(memory_->count));
    if (gpus_ && !gpus_per_node_) {
      if (*gpus_ % nodes != 0) return uneven(*gpus_, "GPUs (--gpus)", nodes);
      gpus_per_node_ = *gpus_ / nodes;
    }
    if (gpus_per_task_ && !gpus_per_node_) {
      TRY_ASSIGN(gpus_per_node_, times(*gpus_per_task_, ranks, "--gpus-per-task"));
    }
    if (!arguments_.gpus && gpus_per_node_) arguments_.gpus = gpus_per_node_;
    arguments_.env.insert(arguments_.env.begin(), exported_.begin(), exported_.end());
    return {};
  }

  Error too_large(std::string_view option) const {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}: {} of all ranks of a node is too large a number",
                                  quoted_name(file_), option));
  }
  Result<int> times(int each, int ranks, std::string_view option) const {
    int all = 0;
    if (__builtin_mul_overflow(each, ranks, &all)) return too_large(option);
    return all;
  }

  Error uneven(int all, std::string_view what, int nodes) const {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}: {} {} cannot be spread evenly over {} nodes; write "
                                  "--ntasks-per-node, or -N and -n of `lockstep run`",
                                  quoted_name(file_), all, what, nodes));
  }

  const std::string& file_;
  RunArguments& arguments_;
  std::vector<std::string> notes_;
  std::vector<std::string> exported_;
  const SbatchSetting* requeue_ = nullptr;  // among the settings that apply() got
  const SbatchSetting* signal_ = nullptr;
  std::optional<int> nodes_, tasks_, tasks_per_node_, cpus_per_task_;
  std::optional<int> gpus_, gpus_per_node_, gpus_per_task_;
  std::optional<Bytes> memory_, memory_per_cpu_;
};

}  // namespace

Result<std::vector<std::string>> apply_sbatch(const std::string& file, const std::string& text,
                                              RunArguments& arguments) {
  if (text.substr(0, text.find('\n')).ends_with('\r'))
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}:1: its lines end as on DOS (CR LF); convert it, as with `sed "
                                  "-i 's/\\r$//'`",
                                  quoted_name(file)));
  if (text.find('\0') != std::string::npos)
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{}: holds a NUL byte; name a script", quoted_name(file)));
  TRY_ASSIGN(std::vector<std::string> command, interpreter_of(file, text));
  TRY_ASSIGN(const std::vector<SbatchSetting> settings, read_sbatch_lines(file, text));
  TRY_ASSIGN(std::vector<std::string> notes, Request(file, arguments).apply(settings));
  for (std::string& note : notes_on_body(file, text)) notes.push_back(std::move(note));
  command.insert(command.end(), {"-c", text});
  // `python -c` has no argument for the script's name.
  if (!command[0].starts_with("python")) command.push_back(file);
  command.insert(command.end(), arguments.command.begin(), arguments.command.end());
  arguments.command = std::move(command);
  return notes;
}

}  // namespace lockstep::cli
