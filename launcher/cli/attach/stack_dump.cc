#include "launcher/cli/attach/stack_dump.h"

#include <nlohmann/json.hpp>

namespace lockstep::cli {

namespace {

using Value = nlohmann::json;

std::string text_of(const Value& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

long long number_of(const Value& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<long long>() : 0;
}

int small_number(const Value& object, const char* key) {
  const long long number = number_of(object, key);
  return number >= 0 && number <= INT32_MAX ? static_cast<int>(number) : 0;
}

bool flag_of(const Value& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

// ---- py-spy ------------------------------------------------------------------------------------

StackThread python_thread(const Value& json, int pid) {
  StackThread thread;
  thread.name = text_of(json, "thread_name");
  thread.id = number_of(json, "os_thread_id");
  thread.is_main = thread.name == "MainThread" || (thread.id != 0 && thread.id == pid);
  thread.has_gil = flag_of(json, "owns_gil");
  const auto frames = json.find("frames");
  if (frames == json.end() || !frames->is_array()) return thread;
  for (const Value& frame : *frames) {
    if (!frame.is_object() || thread.frames.size() == kMaxStackFrames) continue;
    thread.frames.push_back(
        {text_of(frame, "name"), text_of(frame, "filename"), small_number(frame, "line")});
  }
  return thread;
}

}  // namespace

Result<StackProcess> stack_process_from(std::string_view line) {
  const Value json = Value::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("rank") || !json["rank"].is_number_integer())
    return make_error(ErrorCode::corrupt, "a node sent stacks that are no JSON of this version");
  StackProcess process;
  process.rank = small_number(json, "rank");
  process.pid = small_number(json, "pid");
  process.command = text_of(json, "command");
  process.tool = text_of(json, "tool");
  process.error = text_of(json, "error");
  if (const auto threads = json.find("threads"); threads != json.end() && threads->is_array()) {
    for (const Value& thread : *threads)
      if (thread.is_object() && process.threads.size() < kMaxStackThreads)
        process.threads.push_back(python_thread(thread, process.pid));
  } else if (const std::string text = text_of(json, "text"); !text.empty()) {
    process.threads = threads_from_text(text);
    for (StackThread& thread : process.threads) thread.is_main = thread.id == process.pid;
    if (process.threads.empty() && process.error.empty())
      process.error = "the tool's output has no stack: " + text.substr(0, 500);
  }
  return process;
}

}  // namespace lockstep::cli
