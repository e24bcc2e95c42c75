#include "common/domain/ranks/native_stack.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep {

namespace {

// Functions by which a process ends itself. Their caller is the place of the failure.
constexpr std::string_view kEnders[] = {"raise",
                                        "gsignal",
                                        "abort",
                                        "__pthread_kill_implementation",
                                        "__pthread_kill",
                                        "pthread_kill",
                                        "__GI_raise",
                                        "__GI_abort",
                                        "__assert_fail",
                                        "__assert_fail_base",
                                        "__GI___assert_fail",
                                        "__libc_message",
                                        "tgkill",
                                        "__fortify_fail",
                                        "__stack_chk_fail",
                                        "__GI___pthread_kill",
                                        "__pthread_kill_internal",
                                        "pthread_kill@@GLIBC_2.34"};

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

// Heads of threads. eu-stack: "TID 17:". gdb: `Thread 1 (Thread 0x7f… (LWP 17) "python3"):`, or
// with "process 17".
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

// "    /work/boom.c:3:5": eu-stack -s prints it below a frame.
void take_source(std::string_view line, StackFrame& frame) {
  if (!line.starts_with("    ") || !frame.file.empty()) return;
  const std::string_view place = trimmed_front(line);
  const auto colon = place.find(':');
  if (colon == std::string_view::npos || colon == 0) return;
  const auto number = number_at(place.substr(colon + 1));
  if (!number || *number <= 0) return;
  frame.file = place.substr(0, colon);
  frame.line = static_cast<int>(std::min<long long>(*number, INT32_MAX));
}

bool ends_process(const StackFrame& frame) {
  return std::find(std::begin(kEnders), std::end(kEnders), frame.function) != std::end(kEnders);
}

std::size_t first_that_failed(const StackThread& thread) {
  std::size_t first = 0;
  while (first < thread.frames.size() && ends_process(thread.frames[first])) ++first;
  return first < thread.frames.size() ? first : 0;
}

// The frame in one line, with the file's name but not its folder.
StackFrame shown(const StackFrame& frame) {
  return {in_one_line(frame.function.empty() ? "??" : frame.function),
          in_one_line(std::string_view(frame.file).substr(frame.file.rfind('/') + 1)), frame.line};
}

// "crash at boom.c:3"
std::string frame_text(const StackFrame& frame) {
  const StackFrame one = shown(frame);
  if (one.file.empty()) return one.function;
  const std::string text = one.function + " at " + one.file;
  return one.line > 0 ? text + ":" + std::to_string(one.line) : text;
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
      // Gdb shows the first thread of a core file twice.
      if (line.starts_with("#0 ")) threads.back().frames.clear();
      if (threads.back().frames.size() < kMaxStackFrames)
        threads.back().frames.push_back(*std::move(frame));
    } else if (!threads.empty() && !threads.back().frames.empty()) {
      take_source(line, threads.back().frames.back());
    }
  }
  std::erase_if(threads, [](const StackThread& thread) { return thread.frames.empty(); });
  return threads;
}

std::string backtrace_lines(const StackThread& thread, std::size_t limit) {
  std::string text;
  std::size_t number = 0;
  for (std::size_t i = first_that_failed(thread); i < thread.frames.size(); ++i) {
    const std::string line =
        "#" + std::to_string(number++) + " " + frame_text(thread.frames[i]) + "\n";
    if (text.size() + line.size() > limit) break;
    text += line;
  }
  return text;
}

std::optional<StackFrame> frame_of_failure(const StackThread& thread) {
  if (thread.frames.empty()) return std::nullopt;
  return shown(thread.frames[first_that_failed(thread)]);
}

}  // namespace lockstep
