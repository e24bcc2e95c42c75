#include "launcher/cli/stack_dump.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

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

// ---- eu-stack and gdb --------------------------------------------------------------------------

std::string_view trimmed_front(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

std::optional<long long> number_at(std::string_view text) {
  long long number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

// eu-stack: "TID 17:". gdb: `Thread 1 (Thread 0x7f… (LWP 17) "python3"):`, or with "process 17".
std::optional<StackThread> thread_head(std::string_view line) {
  StackThread thread;
  if (line.starts_with("TID ")) {
    thread.id = number_at(line.substr(4)).value_or(0);
    return thread;
  }
  if (!line.starts_with("Thread ") || line.find('(') == std::string_view::npos) return std::nullopt;
  for (const std::string_view word : {std::string_view("LWP "), std::string_view("process ")})
    if (const auto at = line.find(word); at != std::string_view::npos && thread.id == 0)
      thread.id = number_at(line.substr(at + word.size())).value_or(0);
  const auto quote = line.find('"');
  const auto end = line.rfind('"');
  if (quote != std::string_view::npos && end > quote)
    thread.name = line.substr(quote + 1, end - quote - 1);
  return thread;
}

// "#3  0x00007f… in main (argc=1) at hello.c:12" (gdb), "#3  0x00007f… main" (eu-stack).
std::optional<StackFrame> native_frame(std::string_view line) {
  if (!line.starts_with('#') || !number_at(line.substr(1))) return std::nullopt;
  const auto digits = line.find_first_not_of("0123456789", 1);
  if (digits == std::string_view::npos) return std::nullopt;
  std::string_view rest = trimmed_front(line.substr(digits));
  if (rest.starts_with("0x")) {
    const auto end = rest.find(' ');
    rest = end == std::string_view::npos ? std::string_view() : trimmed_front(rest.substr(end));
  }
  if (rest.starts_with("in ")) rest = trimmed_front(rest.substr(3));
  StackFrame frame;
  const auto arguments = rest.find(" (");
  frame.function = rest.substr(0, std::min(arguments, rest.find(" - ")));
  while (!frame.function.empty() && frame.function.back() == ' ') frame.function.pop_back();
  if (frame.function.empty()) frame.function = "??";
  const auto at = rest.rfind(" at ");
  if (arguments == std::string_view::npos || at == std::string_view::npos || at < arguments)
    return frame;
  const std::string_view place = rest.substr(at + 4);
  const auto colon = place.rfind(':');
  frame.file = place.substr(0, colon);
  if (colon != std::string_view::npos)
    frame.line = static_cast<int>(number_at(place.substr(colon + 1)).value_or(0));
  return frame;
}

}  // namespace

std::vector<StackThread> threads_from_text(std::string_view text) {
  std::vector<StackThread> threads;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (auto head = thread_head(line)) {
      if (threads.size() < kMaxStackThreads) threads.push_back(*std::move(head));
    } else if (auto frame = native_frame(line)) {
      if (threads.empty()) threads.emplace_back();
      if (threads.back().frames.size() < kMaxStackFrames)
        threads.back().frames.push_back(*std::move(frame));
    }
  }
  std::erase_if(threads, [](const StackThread& thread) { return thread.frames.empty(); });
  return threads;
}

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
      process.error = "what the tool said has no stack: " + text.substr(0, 500);
  }
  return process;
}

}  // namespace lockstep::cli
