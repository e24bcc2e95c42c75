#include "runner/watch/stack_top.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/cut.h"
#include "common/base/printable.h"
#include "common/domain/ranks/standing.h"

namespace lockstep::runner {
namespace {

constexpr std::size_t kMaxThreads = 512, kMaxFrames = 256;

// The innermost frame comes first.
struct Frame {
  std::string function, file;  // file: "" unless the tool prints it
  int line = 0;
};
using Frames = std::vector<Frame>;

std::string shown_name(std::string_view text) {
  return cut(in_one_line(text.substr(0, 2 * kMaxStandingTextBytes)), kMaxStandingTextBytes - 4);
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// ---- which frame is whose -----------------------------------------------------------------------

// Beginnings of function names of libraries in which ranks wait for each other.
constexpr std::string_view kRankLeads[] = {
    "MPI_",  "PMPI_", "MPID",  "MPIR_", "opal_",  "ompi_",  "mca_",     "PMIx_",  "PMI_",
    "PMI2_", "pmix_", "ucp_",  "uct_",  "ucs_",   "ucc_",   "gloo::",   "c10d::", "shmem_",
    "psm2_", "ofi_",  "fi_cq", "fi_cn", "::gloo", "::c10d", "horovod::"};
// Calls that wait for a GPU; the collectives of NCCL run there.
constexpr std::string_view kGpuLeads[] = {
    "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize",
    "cuStreamSynchronize",   "cuEventSynchronize",    "cuCtxSynchronize",
    "hipStreamSynchronize",  "hipDeviceSynchronize",  "hipEventSynchronize"};
// Python files with the collectives of such libraries. Files beside them, as FSDP's and tensors',
// have frames around everything that a model computes or compiles, and do not count.
constexpr std::string_view kRankFiles[] = {"/torch/distributed/distributed_c10d.py",
                                           "/torch/distributed/_functional_collectives.py",
                                           "/torch/distributed/rendezvous.py",
                                           "/horovod/torch/mpi_ops.py",
                                           "/horovod/tensorflow/mpi_ops.py",
                                           "/horovod/common/",
                                           "/deepspeed/comm/"};
constexpr std::string_view kGpuFiles[] = {"/torch/cuda/streams.py", "/torch/cuda/__init__.py"};
// Functions with these names wrap another call.
constexpr std::string_view kWrappers[] = {"wrapper", "inner", "_fn", "wrapped", "__call__"};
// Folders of installed Python packages, whose code is not the user's.
constexpr std::string_view kLibraryFolders[] = {"/site-packages/", "/dist-packages/",
                                                "/lib/python3", "<frozen ", "<string>"};
// Functions of the C library, Python and torch: whole names, and beginnings of names.
constexpr std::string_view kSystemNames[] = {
    "poll",          "ppoll",         "select",          "pselect",     "recv",     "recvfrom",
    "recvmsg",       "send",          "sendto",          "sendmsg",     "read",     "write",
    "readv",         "writev",        "connect",         "accept",      "accept4",  "usleep",
    "sleep",         "sched_yield",   "syscall",         "wait4",       "waitpid",  "waitid",
    "ioctl",         "clone",         "clone3",          "nanosleep",   "gsignal",  "raise",
    "open",          "openat",        "close",           "pread64",     "pwrite64", "sem_wait",
    "sem_clockwait", "sem_timedwait", "clock_nanosleep", "start_thread"};
constexpr std::string_view kSystemLeads[] = {"__",
                                             "_Py",
                                             "PyEval_",
                                             "PyObject_",
                                             "PyRun_",
                                             "PyErr_",
                                             "Py_",
                                             "pthread_",
                                             "futex_",
                                             "epoll_",
                                             "std::",
                                             "c10::",
                                             "at::",
                                             "torch::",
                                             "pybind11:",
                                             "cuda",
                                             "_dl_",
                                             "libc_",
                                             "pymain_",
                                             "method_vectorcall",
                                             "cfunction_vectorcall",
                                             "object_vacall",
                                             "slot_tp_",
                                             "builtin_exec",
                                             "lock_PyThread",
                                             "acquire_timed",
                                             "take_gil",
                                             "time_sleep",
                                             "sock_call",
                                             "_start",
                                             "[",
                                             "0x",
                                             "??"};

bool begins_with_any(std::string_view text, const auto& leads) {
  return std::any_of(std::begin(leads), std::end(leads),
                     [&](std::string_view lead) { return text.starts_with(lead); });
}

bool holds_any(std::string_view text, const auto& parts) {
  return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool is_one_of(std::string_view text, const auto& names) {
  return std::find(std::begin(names), std::end(names), text) != std::end(names);
}

bool is_python(const Frame& frame) {
  return frame.file.ends_with(".py") || frame.file.starts_with("<");
}

// Whether a name is NCCL's, as ncclAllReduce, and not nccl_test.
bool is_nccl(std::string_view name) {
  if (name.starts_with("pnccl")) name.remove_prefix(1);
  return name.starts_with("nccl") && name.size() > 4 &&
         std::isupper(static_cast<unsigned char>(name[4])) != 0;
}

// Whether a name is Fortran's, as mpi_barrier_.
bool is_fortran_mpi(std::string_view name) {
  return (name.starts_with("mpi_") || name.starts_with("pmpi_")) && name.ends_with("_");
}

bool waits_for_gpu(const Frame& frame) {
  if (is_python(frame)) return frame.function == "synchronize" && holds_any(frame.file, kGpuFiles);
  return begins_with_any(frame.function, kGpuLeads);
}

bool waits_for_ranks(const Frame& frame) {
  if (is_python(frame)) return holds_any(frame.file, kRankFiles);
  return begins_with_any(frame.function, kRankLeads) || is_nccl(frame.function) ||
         is_fortran_mpi(frame.function) || frame.function.find("mpi4py") != std::string::npos;
}

bool is_users(const Frame& frame) {
  if (is_python(frame)) return !holds_any(frame.file, kLibraryFolders);
  return !frame.function.empty() && !waits_for_ranks(frame) && !waits_for_gpu(frame) &&
         !is_one_of(frame.function, kSystemNames) && !begins_with_any(frame.function, kSystemLeads);
}

std::string where_of(const Frame& frame) {
  if (is_python(frame))
    return shown_name(std::string(base_name(frame.file)) + ":" + std::to_string(frame.line));
  if (frame.file.empty() || frame.line <= 0) return shown_name(frame.function);
  return shown_name(frame.function + " (" + std::string(base_name(frame.file)) + ":" +
                    std::to_string(frame.line) + ")");
}

// "MPI_Barrier" for "PMPI_Barrier", "gloo::allreduce" for "gloo::allreduce(gloo::Options const&)".
std::string call_of(const Frame& frame) {
  std::string_view name = frame.function;
  if (name.starts_with("PMPI_") || name.starts_with("pnccl")) name.remove_prefix(1);
  const std::size_t end = std::min(name.find('('), name.size());
  return shown_name(end == 0 ? name : name.substr(0, end));
}

// How well the name tells a user which call it is. Internal calls of libraries tell little.
int tells(const Frame& frame) {
  const std::string_view name = frame.function;
  if (is_python(frame)) return is_one_of(name, kWrappers) ? 1 : 3;
  const bool is_public = name.starts_with("MPI_") || name.starts_with("PMPI_") || is_nccl(name) ||
                         is_fortran_mpi(name) || name.starts_with("gloo::") || waits_for_gpu(frame);
  return is_public ? 2 : name.starts_with("__") ? 0 : 1;
}

// Judges a stack. The frames between the innermost one and the user's are the calls of the user. Of
// equal names, the outermost is the user's call.
StackTop judge_frames(const Frames& frames) {
  StackTop top;
  // In a stack with Python frames, native frames belong to extensions.
  const bool is_python_stack = std::any_of(frames.begin(), frames.end(), is_python);
  const auto user = std::find_if(frames.begin(), frames.end(), [&](const Frame& frame) {
    return is_users(frame) && (!is_python_stack || is_python(frame));
  });
  int told = -1;
  for (auto frame = frames.begin(); frame != user; ++frame) {
    if (!waits_for_ranks(*frame) && !waits_for_gpu(*frame)) continue;
    top.waits = true;
    if (tells(*frame) < told) continue;
    told = tells(*frame);
    top.within = call_of(*frame);
  }
  if (user != frames.end()) {
    top.at = where_of(*user);
  } else {
    const auto python = std::find_if(frames.begin(), frames.end(), is_python);
    if (python != frames.end()) top.at = where_of(*python);
  }
  return top;
}

// ---- py-spy's JSON ------------------------------------------------------------------------------

std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t number_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

Frames frames_of(const nlohmann::json& thread) {
  Frames frames;
  const auto found = thread.find("frames");
  if (found == thread.end() || !found->is_array()) return frames;
  for (const nlohmann::json& each : *found) {
    if (!each.is_object() || frames.size() >= kMaxFrames) continue;
    frames.push_back({text_in(each, "name"), text_in(each, "filename"),
                      static_cast<int>(number_in(each, "line"))});
  }
  return frames;
}

// The frames of the thread with the number of the process, or with a name that shows that; else of
// the first thread.
Frames main_of_threads(const nlohmann::json& threads, int pid) {
  Frames first;
  std::size_t looked_at = 0;
  for (const nlohmann::json& thread : threads) {
    if (!thread.is_object() || ++looked_at > kMaxThreads) continue;
    const bool is_main =
        number_in(thread, "os_thread_id") == pid || text_in(thread, "thread_name") == "MainThread";
    if (is_main) return frames_of(thread);
    if (first.empty()) first = frames_of(thread);
  }
  return first;
}

// ---- text of eu-stack and gdb -------------------------------------------------------------------

std::string_view trimmed_front(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

// Reads a frame of gdb: "#0  0x00007f31 in poll () from /lib/libc.so.6" or "#1  main (argc=1) at
// a.c:7"; or of eu-stack: "#0  0x00007f3127b0e poll", with " - 1" and the file, if it knows it.
std::optional<Frame> parse_frame(std::string_view line) {
  if (!line.starts_with("#")) return std::nullopt;
  line.remove_prefix(1);
  line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  line = trimmed_front(line);
  if (line.starts_with("0x")) {
    line.remove_prefix(std::min(line.find_first_of(" \t"), line.size()));
    line = trimmed_front(line);
    if (line.starts_with("- 1")) line = trimmed_front(line.substr(3));
  }
  if (line.starts_with("in ")) line.remove_prefix(3);
  Frame frame;
  if (const std::size_t at = line.rfind(" at "); at != line.npos) {
    const std::string_view place = line.substr(at + 4);
    const std::size_t colon = place.rfind(':');
    frame.file = place.substr(0, std::min(colon, place.size()));
    if (colon != place.npos)
      for (const char digit : place.substr(colon + 1, 9))
        frame.line = std::isdigit(static_cast<unsigned char>(digit)) != 0
                         ? frame.line * 10 + (digit - '0')
                         : frame.line;
    line = line.substr(0, at);
  }
  line = line.substr(0, std::min(line.find(" ("), line.size()));
  frame.function = line.substr(0, std::min(line.find('@'), line.size()));  // without its version
  return frame;
}

// Whether the line heads the process's first thread, which has its pid: "TID 17:" or "Thread 1
// (Thread 0x7f (LWP 17) "python"):".
bool is_heading_of(std::string_view line, int pid) {
  const std::string number = std::to_string(pid);
  return line.starts_with("TID " + number + ":") ||
         (line.starts_with("Thread ") && (line.find("(LWP " + number + ")") != line.npos ||
                                          line.find("process " + number) != line.npos));
}

bool is_heading(std::string_view line) {
  return line.starts_with("TID ") || line.starts_with("Thread ");
}

Frames main_of_text(std::string_view text, int pid) {
  Frames first, main;
  Frames* into = &first;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_heading(line)) {
      into = is_heading_of(line, pid) ? &main : is_first ? &first : nullptr;
      is_first = false;
      continue;
    }
    if (into == nullptr || into->size() >= kMaxFrames) continue;
    if (auto frame = parse_frame(line)) into->push_back(*std::move(frame));
  }
  return main.empty() ? first : main;
}

}  // namespace

std::optional<StackTop> parse_stack_line(std::string_view line) {
  const nlohmann::json root = nlohmann::json::parse(line, nullptr, false);
  if (!root.is_object()) return std::nullopt;
  const int pid = static_cast<int>(number_in(root, "pid"));
  Frames frames;
  if (const auto threads = root.find("threads"); threads != root.end() && threads->is_array())
    frames = main_of_threads(*threads, pid);
  else
    frames = main_of_text(text_in(root, "text"), pid);
  if (frames.empty()) return std::nullopt;
  StackTop top = judge_frames(frames);
  top.pid = pid;
  return top;
}

}  // namespace lockstep::runner
