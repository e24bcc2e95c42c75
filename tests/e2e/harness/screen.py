"""A terminal as a program sees it, and what a person then reads on it."""
import fcntl
import os
import pty
import re
import select
import struct
import termios

from harness.site import DEADLINE_S, wait_until


class Screen:
    """What stands on a terminal after these bytes. It knows what our command line uses: ends of lines, colours,
    the cursor up, and erasing to the end of the line or of the screen."""

    SEQUENCE = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")

    def __init__(self, columns):
        self.columns, self.rows, self.row, self.column = columns, [""], 0, 0

    def feed(self, text):
        at = 0
        while at < len(text):
            sequence = self.SEQUENCE.match(text, at)
            if sequence:
                self._obey(sequence.group(1), sequence.group(2))
                at = sequence.end()
                continue
            self._put(text[at])
            at += 1
        return self

    def _put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append("")
        else:
            if self.column == self.columns:
                self._put("\n")
                self.column = 0
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[:self.column] + char + line[self.column + 1:]
            self.column += 1

    def _obey(self, number, what):
        assert what in "AJKm", f"unknown to this screen: {what}"
        if what == "A":
            self.row = max(0, self.row - int(number or 1))
        if what in "JK":
            self.rows[self.row] = self.rows[self.row][:self.column]
        if what == "J":
            del self.rows[self.row + 1:]

    def lines(self):
        return [line.rstrip() for line in self.rows if line.strip()]


class OnATerminal:
    """`lockstep …` of a site on a terminal of its own."""

    def __init__(self, site, *words, columns=100):
        self.columns, self.seen = columns, b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
            os.chdir(site.work)
            argv = site._argv(words)
            os.execvpe(argv[0], argv, {**site.environment(), "TERM": "xterm"})

    def _read(self):
        """False at the end."""
        if not select.select([self.terminal], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # EIO: nobody has the other end any more
            return False
        self.seen += data
        return bool(data)

    def lines(self):
        return Screen(self.columns).feed(self.seen.decode(errors="replace")).lines()

    def wait_for(self, condition, what):
        """Reads until `condition(lines)` holds."""
        wait_until(lambda: self._read() and condition(self.lines()), what)
        return self.lines()

    def exit_code(self):
        """Reads to the end."""
        wait_until(lambda: not self._read(), "the program ends", DEADLINE_S)
        os.close(self.terminal)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def end(self):
        """Reads to the end; returns the exit code and what then stands on the screen."""
        return self.exit_code(), self.lines()
