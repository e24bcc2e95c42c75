#include "launcher/compute/ssh/scripts.h"

#include <fmt/format.h>

#include <sstream>

namespace lockstep::compute::ssh {
namespace {

constexpr std::size_t kMaxReportLines = 100;
constexpr std::size_t kMaxValueBytes = 1'000;

// Sets `d`. No value in it needs quoting but by double quotes.
std::string find_directory(const Install& install) {
  if (!install.directory.empty()) return fmt::format("d=\"{}\"\n", install.directory);
  return fmt::format(
      "d=\"$HOME/.lockstep/{0}\"\n"
      "[ \"$(id -u)\" != 0 ] || d=\"/var/lib/lockstep/{0}\"\n",
      install.folder);
}

// `keeper`: prints the pid of the script that keeps the agent running, if it lives.
constexpr const char* kKeeper = R"sh(
keeper() {
  pid=$(cat "$d/pid" 2>/dev/null) || return 1
  case $pid in ''|*[!0-9]*) return 1 ;; esac
  tr '\000' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -qF "$d/keep " || return 1
  echo "$pid"
}
)sh";

// Started once by start_script; `$1` is the directory, the rest are the agent's arguments.
constexpr const char* kKeep = R"sh(#!/bin/sh
# Keeps the Lockstep agent of this directory running. `lockstep compute detach` removes it.
d=$1
shift
cd "$d" || exit 1
echo $$ > pid
child='' stop=''
trap 'stop=1; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM INT HUP
while [ -z "$stop" ]; do
  "$d/current/bin/lockstep-agent" --home "$d/agent" "$@" < /dev/null &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  child=''
  case $code in 0|2) break ;; esac
  [ -z "$stop" ] || break
  sleep 5 &
  child=$!
  wait "$child"
  child=''
done
rm -f pid
)sh";

}  // namespace

std::string probe_script(const Install& install) {
  return "LC_ALL=C; export LC_ALL\n" + find_directory(install) + kKeeper + R"sh(
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
if [ -f "$d/tag" ]; then echo "tag $(head -c 300 "$d/tag" | head -n 1)"
elif [ -e "$d" ] && [ -n "$(ls -A "$d" 2>/dev/null)" ]; then echo "tag -"
fi
for tool in tar gzip setsid grep tr; do command -v $tool > /dev/null || echo "missing $tool"; done
echo "bundle $(basename "$(readlink "$d/current" 2>/dev/null)")"
[ -f "$d/agent/identity.json" ] && echo "joined yes"
keeper > /dev/null && echo "running yes"
echo "directory $d"
echo lockstep-end
)sh";
}

std::string unpack_command(const Install& install) {
  std::string script =
      "set -e; umask 022; " + find_directory(install) +
      fmt::format(
          "mkdir -p \"$d\"; if [ \"$(id -u)\" = 0 ]; then chmod 711 \"$d\"; else chmod 700 "
          "\"$d\"; fi; [ -f \"$d/tag\" ] || echo \"{0}\" > \"$d/tag\"; "
          "rm -rf \"$d/new\" \"$d/bundle-{1}\"; mkdir \"$d/new\"; "
          "gzip -dc | tar -x -f - -C \"$d/new\"; mv \"$d\"/new/*/ \"$d/bundle-{1}\"; "
          "rmdir \"$d/new\"; exec \"$d/bundle-{1}/bin/lockstep-agent\" --version",
          install.tag, install.bundle);
  for (char& c : script)
    if (c == '\n') c = ';';
  return script;
}

std::string start_script(const Install& install, const std::string& token) {
  return "LC_ALL=C; export LC_ALL\nset -e\n" + find_directory(install) + kKeeper +
         fmt::format(R"sh(
cd "$d"
old=$(basename "$(readlink current 2>/dev/null)" 2>/dev/null || true)
if pid=$(keeper) && [ "$old" != "bundle-{0}" ]; then
  kill "$pid"
  n=0
  while keeper > /dev/null && [ $n -lt 150 ]; do sleep 0.1; n=$((n + 1)); done
fi
rm -f current.new
ln -s "bundle-{0}" current.new
mv -T current.new current
if [ ! -f agent/identity.json ]; then
  (umask 077; cat > token << 'LOCKSTEP_TOKEN'
{1}
LOCKSTEP_TOKEN
  )
fi
cat > keep << 'LOCKSTEP_KEEP'
{2}LOCKSTEP_KEEP
if ! keeper > /dev/null; then
  : > log.new
  [ ! -f log ] || mv log log.1
  mv log.new log
  rm -f pid
  setsid sh "$d/keep" "$d" --name {3} --token-file "$d/token" < /dev/null >> log 2>&1 &
fi
n=0
while [ ! -f agent/identity.json ] && [ $n -lt 450 ]; do
  sleep 0.1
  n=$((n + 1))
  grep -q ' error \|^lockstep-agent: ' log 2>/dev/null && break
done
echo lockstep-begin
if [ -f agent/identity.json ]; then
  rm -f token
  echo "joined yes"
else
  echo "why $(tail -n 1 log | head -c 900)"
  if pid=$(keeper); then
    kill "$pid"
    n=0
    while keeper > /dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
  fi
fi
for b in bundle-*; do
  [ "$b" = "bundle-{0}" ] && continue
  used=''
  for e in /proc/[0-9]*/exe; do case $(readlink "$e" 2>/dev/null) in "$d/$b"/*) used=1 ;; esac; done
  [ -n "$used" ] || rm -rf "$b"
done
echo lockstep-end
)sh",
                     install.bundle, token, kKeep, install.name);
}

std::string remove_script(const Install& install) {
  return "LC_ALL=C; export LC_ALL\n" + find_directory(install) + kKeeper +
         fmt::format(R"sh(
echo lockstep-begin
finish() {{ echo lockstep-end; exit 0; }}
[ -e "$d" ] || {{ echo "absent yes"; finish; }}
[ "$(head -n 1 "$d/tag" 2>/dev/null)" = "{}" ] || {{ echo "foreign $d"; finish; }}
pid=$(keeper) && kill "$pid" 2>/dev/null
n=0
while [ $n -lt 200 ]; do
  left=''
  for p in /proc/[0-9]*; do
    case "$(readlink "$p/exe" 2>/dev/null)|$(readlink "$p/cwd" 2>/dev/null)" in
      "$d"/*|*"|$d"|*"|$d"/*) left="$left ${{p#/proc/}}" ;;
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
rmdir "$(dirname "$d")" 2>/dev/null
echo "absent yes"
finish
)sh",
                     install.tag);
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
      known = known.empty() ? value : known + ", " + value;  // `missing` may come several times
    }
  }
  return {};
}

}  // namespace lockstep::compute::ssh
