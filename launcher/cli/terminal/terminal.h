#pragma once
// Writes to our standard output and error, always completely. On a terminal it keeps one status
// line below all other output; elsewhere it writes plain lines. It never waits for input. Whatever
// goes to a terminal goes through printable_log(), so that no text from elsewhere is obeyed there;
// to files and pipes bytes go as they are.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/messages/bulk_protocol.h"

namespace lockstep::cli {

class Terminal {
 public:
  Terminal();  // asks isatty, NO_COLOR and TERM
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool color() const { return out_tty_ && color_; }
  // The width of standard output; nullopt: it is not a terminal.
  std::optional<std::size_t> columns() const;
  // Whether standard output, for LogStream::out, or standard error is a terminal.
  bool is_terminal(LogStream stream) const;
  // Writes to standard output for LogStream::out, else to standard error. False when the bytes
  // could not be written: see lost_output().
  bool write(LogStream stream, std::string_view bytes);
  // Writes bytes that a terminal shall obey.
  bool write_raw(LogStream stream, std::string_view bytes);
  void out(std::string_view text) { write(LogStream::out, text); }
  // Why standard output can no longer be written: its reader closed it (`closed`), or another
  // error.
  struct LostOutput {
    bool closed = false;
    std::string why;
  };
  const std::optional<LostOutput>& lost_output() const { return lost_output_; }
  // Prints the line "lockstep: TEXT" on stderr.
  void print_line(std::string_view text);
  // Prints `text` on stderr, without a prefix or newline.
  void err(std::string_view text) { write(LogStream::err, text); }
  // Shows lines above the status line, in place of the lines of the last call; does nothing without
  // a terminal. While the last written line has no newline yet, these lines and the status line are
  // not drawn.
  void live(std::vector<std::string> lines);
  // Whether both stdout and stderr are terminals, so that all output can be redrawn.
  bool redraws() const { return err_tty_ && out_tty_; }
  // Whether there is a status line: standard error is a terminal.
  bool has_status_line() const { return err_tty_; }
  // Whether the status line can show the text whole.
  bool fits_status_line(const std::string& text) const;
  // Replaces the status line on a terminal; does nothing elsewhere.
  void progress(std::string_view text);
  void clear_status();  // removes it and the lines above it
  // Sets the raw mode. In it a program elsewhere draws on the terminal: there is no status line,
  // and our own lines begin and end with CR LF. `at_line_start`: where that program has left the
  // cursor.
  void set_raw(bool raw, bool at_line_start = true);

 private:
  void draw();
  void erase();

  bool out_tty_ = false;
  bool err_tty_ = false;  // and it can be redrawn
  bool err_terminal_ = false;
  bool color_ = false;
  bool raw_ = false;
  std::vector<std::string> live_;
  std::string status_;
  std::size_t drawn_rows_ = 0;  // terminal rows that live_ and status_ take now
  std::optional<LostOutput> lost_output_;
  bool at_line_start_ = true;  // our last output to the terminal ended with a newline
};

}  // namespace lockstep::cli
