#pragma once
// Our standard output and error: whole writes, one status line on a terminal that makes room for
// everything else, and plain lines where there is no terminal. It never waits for input.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/bulk.h"

namespace lockstep::cli {

class Terminal {
 public:
  Terminal();  // asks isatty, NO_COLOR and TERM
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool color() const { return out_tty_ && color_; }
  // How wide standard output is; nullopt: it is no terminal.
  std::optional<std::size_t> columns() const;
  // False when it could not be written: see lost_output().
  // To standard output if it is that stream, to standard error otherwise.
  bool write(LogStream stream, std::string_view bytes);
  void out(std::string_view text) { write(LogStream::out, text); }
  // How standard output was lost, if it was: nobody reads it any more, or it cannot be written.
  struct LostOutput {
    bool closed = false;
    std::string why;
  };
  const std::optional<LostOutput>& lost_output() const { return lost_output_; }
  // A line of ours on stderr: "lockstep: TEXT".
  void print_line(std::string_view text);
  // Text of ours on stderr, as it is.
  void err(std::string_view text) { write(LogStream::err, text); }
  // Lines that are replaced as a whole, above the status line; nothing without a terminal. Where a
  // line that was written is not ended yet, they and the status line wait for its end.
  void live(std::vector<std::string> lines);
  // Whether all that is written goes to a terminal that has a status line.
  bool redraws() const { return err_tty_ && out_tty_; }
  // Whether there is a status line: standard error is a terminal.
  bool has_status_line() const { return err_tty_; }
  // The status line: replaces the last one on a terminal; nothing elsewhere.
  void progress(std::string_view text);
  void clear_status();  // and the lines above it

 private:
  void draw();
  void erase();

  bool out_tty_ = false;
  bool err_tty_ = false;
  bool color_ = false;
  std::vector<std::string> live_;
  std::string status_;
  std::size_t drawn_rows_ = 0;  // of both, as they stand on the terminal
  std::optional<LostOutput> lost_output_;
  bool at_line_start_ = true;  // of the terminal, as far as we wrote to it
};

}  // namespace lockstep::cli
