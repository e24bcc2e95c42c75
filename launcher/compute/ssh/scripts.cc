#include "launcher/compute/ssh/scripts.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace lockstep::compute::ssh {
namespace {

constexpr std::size_t kMaxReportLines = 100;
constexpr std::size_t kMaxValueBytes = 1'000;

// Sets `d`. Values in it need only double quotes.
std::string find_directory(const Install& install) {
  if (!install.directory.empty()) return fmt::format("d=\"{}\"\n", install.directory);
  return fmt::format(
      "d=\"$HOME/.lockstep/{0}\"\n"
      "[ \"$(id -u)\" != 0 ] || d=\"/var/lib/lockstep/{0}\"\n",
      install.folder);
}

// `changeable`: prints the first folder, from $d upwards, that another account can change: that
// account could replace the agent's program. It is one line without single quotes.
constexpr const char* kChangeable =
    "changeable() { "
    "a=$d; while [ ! -d \"$a\" ]; do a=$(dirname \"$a\"); done; "
    "for q in \"$d\" \"$(cd \"$a\" && pwd -P)\"; do while :; do "
    "if [ -e \"$q\" ] || [ -L \"$q\" ]; then "
    "set -- $(ls -ldn \"$q\"); w=; "
    "case ${3:-} in 0|$(id -u)) ;; *) w=1 ;; esac; "
    "case $1 in "
    "l*) [ \"$q\" != \"$d\" ] || w=1 ;; "
    "d????????[tT]*) [ \"$q\" != \"$d\" ] || w=1 ;; "
    "d???????w*) w=1 ;; "
    "d????w*) [ \"$4 $(id -gn)\" = \"$(id -g) $(id -un)\" ] || w=1 ;; "
    "esac; "
    "[ -z \"$w\" ] || { echo \"$q\"; return; }; fi; "
    "[ \"$q\" != / ] || break; q=${q%/*}; [ -n \"$q\" ] || q=/; "
    "done; done; }";

// The agent is kept running by systemd (`mode` system or user), or by the script `keep` (process).
// `keeper` prints that script's pid if it runs. The pid alone is not enough: another account may
// get the same pid, and can give its process any command line.
constexpr const char* kFunctions = R"sh(
mode=$(cat "$d/supervisor" 2>/dev/null)
keeper() {
  pid=$(cat "$d/pid" 2>/dev/null) || return 1
  case $pid in ''|*[!0-9]*) return 1 ;; esac
  [ -O "/proc/$pid" ] || return 1
  tr '\000' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -qF "$d/keep " || return 1
  echo "$pid"
}
sc() {
  [ "$mode" = user ] || { systemctl "$@"; return; }
  XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/run/user/$(id -u)} systemctl --user "$@"
}
unit_file() {
  [ "$mode" = user ] || { echo "/etc/systemd/system/$u"; return; }
  echo "${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/$u"
}
# The endpoint at which the launcher has accepted the session of the agent that runs.
linked() {
  set -- $(head -c 400 "$d/agent/link" 2>/dev/null)
  case ${1:-} in ''|*[!0-9]*) return 1 ;; esac
  [ "$1" = "$(head -c 20 "$d/agent/agent.pid" 2>/dev/null | cut -d ' ' -f 1)" ] || return 1
  [ -O "/proc/$1" ] && echo "${2:-}"
}
is_running() {
  case $mode in
    system|user) case $(sc is-active "$u" 2>/dev/null) in active|activating) ;; *) return 1 ;; esac ;;
    *) keeper > /dev/null ;;
  esac
}
stop_agent() {
  case $mode in system|user) sc stop "$u" 2>/dev/null; return 0 ;; esac
  pid=$(keeper) || return 0
  kill "$pid" 2>/dev/null
  n=0
  while keeper > /dev/null && [ $n -lt 150 ]; do sleep 0.1; n=$((n + 1)); done
}
forget_unit() {
  case $mode in system|user) ;; *) return 0 ;; esac
  sc disable "$u" 2>/dev/null
  rm -f "$(unit_file)"
  sc daemon-reload
  sc reset-failed "$u" 2>/dev/null
  return 0
}
)sh";

// `dial HOST PORT`: prints ff if a program answers there with ZeroMQ's greeting.
constexpr const char* kDial = R"sh(
dial() {
  if command -v bash > /dev/null && command -v timeout > /dev/null; then
    timeout 10 bash -c 'exec 3<>"/dev/tcp/$0/$1" && head -c 1 <&3 | od -An -tx1' "$1" "$2"
  else
    python3 -c 'import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), 10)
print(s.recv(1).hex())' "$1" "$2"
  fi < /dev/null 2>/dev/null
}
)sh";

std::string dial_lines(const Endpoints& launcher) {
  std::string dials;
  for (const Address& address : launcher.all())
    dials += fmt::format("dial \"{}\" {} & ", address.host, address.port);
  return std::string(kDial) + R"sh(
echo "host_id $(cat /proc/sys/kernel/random/boot_id):$(readlink /proc/self/ns/net | tr -dc 0-9)"
if [ -n "$(linked)" ]; then :
elif command -v bash > /dev/null && command -v timeout > /dev/null || command -v python3 > /dev/null
then echo "dialled $( { )sh" +
         dials + R"sh(wait; } | grep -c ff )"
else echo "dialled unknown"
fi
)sh";
}

}  // namespace

std::string words_of_share(const Install& install) {
  return install.share.empty() ? "all" : install.share;
}

std::string script_head(const Install& install) {
  return "LC_ALL=C; export LC_ALL\n" + find_directory(install) +
         fmt::format("tag=\"{}\" b=\"bundle-{}\" name=\"{}\" u=\"{}\"\n", install.tag,
                     install.bundle, install.name, install.unit) +
         kChangeable + kFunctions;
}

std::string probe_script(const Install& install, const std::optional<Endpoints>& dial) {
  return script_head(install) + R"sh(
echo lockstep-begin
echo "system $(uname -s)"
echo "architecture $(uname -m)"
echo "kernel $(uname -r)"
echo "clock $(date +%s)"
p=$d
while [ ! -d "$p" ]; do p=$(dirname "$p"); done
set -- $(df -Pk "$p" | tail -n 1)
echo "free_kib $4"
[ -w "$p" ] && echo "writable yes" || echo "writable no $p"
changed=$(changeable)
[ -z "$changed" ] || echo "changeable $changed"
if [ -f "$d/tag" ]; then echo "tag $(head -c 300 "$d/tag" | head -n 1)"
elif [ -e "$d" ] && [ -n "$(ls -A "$d" 2>/dev/null)" ]; then echo "tag -"
fi
for tool in tar gzip setsid grep tr sed od; do
  command -v $tool > /dev/null || echo "missing $tool"
done
echo "bundle $(basename "$(readlink "$d/current" 2>/dev/null)")"
[ -f "$d/agent/identity.json" ] && echo "joined yes"
link=$(linked) && echo "connected $link"
[ -f "$d/share" ] && echo "share $(head -c 20 "$d/share")"
[ -f "$d/tunnel" ] && echo "tunnel $(head -c 10 "$d/tunnel")"
[ -n "$mode" ] && echo "supervisor $mode"
is_running && echo "running yes"
echo "directory $d"
)sh" + (dial ? dial_lines(*dial) : "") +
         "echo lockstep-end\n";
}

std::string unpack_command(const Install& install) {
  std::string script =
      "set -e; umask 022; " + find_directory(install) + kChangeable + "; " +
      fmt::format(
          "mkdir -p \"$d\"; c=$(changeable); "
          "[ -z \"$c\" ] || {{ echo \"other accounts can change $c\" >&2; exit 1; }}; "
          "if [ \"$(id -u)\" = 0 ]; then chmod 711 \"$d\"; else chmod 700 \"$d\"; fi; "
          "[ -f \"$d/tag\" ] || echo \"{0}\" > \"$d/tag\"; "
          "rm -rf \"$d/new\" \"$d/bundle-{1}\"; mkdir \"$d/new\"; "
          "gzip -dc | tar -x -f - -C \"$d/new\"; mv \"$d\"/new/*/ \"$d/bundle-{1}\"; "
          "rmdir \"$d/new\"; exec \"$d/bundle-{1}/bin/lockstep-agent\" --version",
          install.tag, install.bundle);
  for (char& c : script)
    if (c == '\n') c = ';';
  return script;
}

std::string remove_script(const Install& install) {
  // The parent of a directory that a person chose is not removed.
  return script_head(install) +
         (install.directory.empty() ? "parent=$(dirname \"$d\")" : "parent=") + R"sh(
echo lockstep-begin
finish() { echo lockstep-end; exit 0; }
[ -e "$d" ] || { echo "absent yes"; finish; }
[ -O "$d" ] && [ ! -L "$d" ] && [ "$(head -n 1 "$d/tag" 2>/dev/null)" = "$tag" ] ||
  { echo "foreign $d"; finish; }
stop_agent > /dev/null
forget_unit > /dev/null 2>&1
n=0
while [ $n -lt 200 ]; do
  left=''
  for p in /proc/[0-9]*; do
    case "$(readlink "$p/exe" 2>/dev/null)|$(readlink "$p/cwd" 2>/dev/null)" in
      "$d"/*|*"|$d"|*"|$d"/*) left="$left ${p#/proc/}" ;;
    esac
  done
  [ -n "$left" ] || break
  [ $n -eq 50 ] && kill $left 2>/dev/null
  [ $n -ge 100 ] && kill -9 $left 2>/dev/null
  sleep 0.1
  n=$((n + 1))
done
[ -z "$left" ] || echo "left $left"
cd /
rm -rf --one-file-system "$d" 2>/dev/null || rm -rf "$d" 2>/dev/null
[ -e "$d" ] && echo "stays $d"
[ -z "$parent" ] || rmdir "$parent" 2>/dev/null
echo "absent yes"
finish
)sh";
}

Report parse_report(const std::string& text) {
  Report report;
  std::istringstream lines(text);
  bool begun = false;
  for (std::string line; std::getline(lines, line) && report.size() < kMaxReportLines;) {
    if (line == "lockstep-begin") {
      begun = true;
      report.clear();
    } else if (line == "lockstep-end") {
      return report;
    } else if (begun) {
      const auto blank = line.find(' ');
      if (blank == std::string::npos) continue;
      std::string value = line.substr(blank + 1, kMaxValueBytes);
      std::string& known = report[line.substr(0, blank)];
      // The host may report `missing` several times.
      known = known.empty() ? value : known + ", " + value;
    }
  }
  return {};
}

std::string text_of(const Report& report, const char* key) {
  const auto it = report.find(key);
  return it == report.end() ? "" : it->second;
}

std::int64_t number_of(const Report& report, const char* key) {
  const auto it = report.find(key);
  std::int64_t value = -1;
  if (it == report.end()) return value;
  const char* end = it->second.data() + it->second.size();
  const auto [stop, error] = std::from_chars(it->second.data(), end, value);
  return error == std::errc{} && stop == end ? value : -1;
}

}  // namespace lockstep::compute::ssh
