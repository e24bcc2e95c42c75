#include "common/domain/runners/attach_frames.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lockstep {
namespace {

Error refused(std::string message) {
  return make_error(ErrorCode::invalid_argument, std::move(message));
}

// Whether TERM has the form of a terminal's name; a library may use the name as a part of a path.
bool is_terminal_name(std::string_view term) {
  return std::all_of(term.begin(), term.end(),
                     [](char c) { return c > ' ' && c <= '~' && c != '/'; });
}

Status check(const AttachProgram& program) {
  if (program.argv.size() > kMaxAttachWords)
    return refused("the command has " + std::to_string(program.argv.size()) + " words; at most " +
                   std::to_string(kMaxAttachWords) + " can be sent");
  std::size_t bytes = 0;
  for (const std::string& word : program.argv) {
    bytes += word.size() + 1;
    if (word.find('\0') != std::string::npos)
      return refused("a word of the command has a NUL byte; no program can be given one");
  }
  if (bytes > kMaxAttachCommandBytes)
    return refused("the command has " + std::to_string(bytes) + " bytes; at most " +
                   std::to_string(kMaxAttachCommandBytes) +
                   " can be sent: write it to a file of the job, and run that");
  if (!program.argv.empty() && program.argv.front().empty())
    return refused("the command's first word is empty; name the program to run");
  if (program.term.size() > kMaxTermBytes || !is_terminal_name(program.term))
    return refused("TERM is not the name of a terminal: at most " + std::to_string(kMaxTermBytes) +
                   " printable ASCII characters without blanks and slashes");
  return {};
}

}  // namespace

Status validate(const AttachOrder& order) {
  if (const auto* program = std::get_if<AttachProgram>(&order)) return check(*program);
  if (const auto* signal = std::get_if<AttachSignal>(&order))
    if (signal->number < 1 || signal->number > kLastSignal)
      return refused("there is no signal " + std::to_string(signal->number) +
                     "; signals are 1 to " + std::to_string(kLastSignal));
  return {};
}

Word describe(AttachStream stream) {
  switch (stream) {
    case AttachStream::input: return {1, "input"};
    case AttachStream::output: return {2, "output"};
    case AttachStream::error: return {3, "error"};
  }
  return {};
}

Status AttachOpen::check(const AttachOpen& open) {
  const Status valid = validate(open.order);
  if (valid) return {};
  return make_error(ErrorCode::corrupt,
                    "message field attach_open.order: " + valid.error().message);
}

Status AttachFrame::check(const AttachFrame& frame) {
  const std::size_t size = frame.attachment.value.size();
  if (size == kAttachIdBytes) return {};
  return make_error(ErrorCode::corrupt, "message field attach_frame.attachment: has " +
                                            std::to_string(size) + " bytes; an id has " +
                                            std::to_string(kAttachIdBytes));
}

}  // namespace lockstep
