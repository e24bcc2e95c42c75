#include "runner/attach/core_place.h"

#include <charconv>

#include "common/base/printable.h"
#include "common/base/utf8.h"

namespace lockstep::runner {
namespace {

constexpr std::string_view kMark = "lockstep-core: ";
constexpr std::size_t kMostOfPattern = 128;  // the longest pattern, by the kernel's limit

// The script is for POSIX's sh. It renames each core file first, since the next rank that fails may
// overwrite or find it. The arguments: since, reads, keeps, rank, most, kind, kept, and the globs.
constexpr char kScript[] = R"sh(since=$1 reads=$2 keeps=$3 rank=$4 most=$5 kind=$6 kept=$7
shift 7
IFS='
'
say() { printf 'lockstep-core: %s\n' "$1"; }
number() { stat -c "$1" -- "$2" 2>/dev/null || echo 0; }
bounded() { if command -v timeout >/dev/null 2>&1; then timeout 25 "$@"; else "$@"; fi; }
core=
if [ "$kind" = systemd ]; then
  mine=${TMPDIR:-/tmp}/core.lockstep-$rank
  for i in 1 2 3 4 5 6 7 8 9 10; do
    coredumpctl -q --no-pager --since="@$since" -1 --output="$mine" dump "COREDUMP_UID=$(id -u)" \
      >/dev/null 2>&1 && [ -s "$mine" ] && { core=$mine; break; }
    sleep 0.5
  done
  [ -n "$core" ] || rm -f -- "$mine"
else
  for glob; do
    for file in $glob; do
      case $file in *.lockstep-*) continue ;; esac
      [ -f "$file" ] && [ ! -h "$file" ] && [ -O "$file" ] || continue
      [ "$(number %Y "$file")" -ge "$since" ] || continue
      if [ -z "$core" ] || [ "$file" -nt "$core" ]; then core=$file; fi
    done
  done
  mine=$core.lockstep-$rank
  if [ -n "$core" ]; then mv -- "$core" "$mine" 2>/dev/null || mine=$core; fi
fi
if [ -z "$core" ]; then say none; exit 0; fi
size=$(number %s "$mine")
say "size $size"
if [ "$reads" = 1 ]; then
  if command -v eu-stack >/dev/null 2>&1; then
    say 'tool eu-stack'
    # The folder of a job of ours is a mount of its own, and the kernel names what lies there from
    # that folder on. The first name is the program's.
    named=$(eu-readelf -n "$mine" 2>/dev/null |
      sed -n '/ files:$/{n;s/^ *[0-9a-f]*-[0-9a-f]* *[0-9a-f]* *[0-9]* *//p;q;}')
    if [ -n "$named" ] && [ ! -e "$named" ] && [ -f ".$named" ]; then
      bounded eu-stack -s --core="$mine" -e ".$named" 2>/dev/null
    else
      bounded eu-stack -s --core="$mine" 2>/dev/null
    fi
  elif command -v gdb >/dev/null 2>&1; then
    say 'tool gdb'
    bounded gdb -nx -batch -iex 'set auto-load off' -iex 'set debuginfod enabled off' -c "$mine" \
      -ex 'python import os, re; m = re.search(r"(/\S+)", gdb.execute("info proc mappings", to_string=True)); p = m.group(1) if m else ""; p and gdb.execute("file " + (p if os.path.exists(p) else "." + p), to_string=True)' \
      -ex 'bt 64' 2>/dev/null
  fi
  say end
fi
if [ "$keeps" = 1 ] && [ "$size" -le "$most" ]; then
  mkdir -p logs && { mv -- "$mine" "$kept" || cp -- "$mine" "$kept"; } 2>/dev/null && say kept ||
    rm -f -- "$kept" 2>/dev/null
elif [ "$keeps" = 1 ]; then
  say large
fi
rm -f -- "$mine" 2>/dev/null
exit 0
)sh";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

// Adds a literal character of a pattern, escaped for the shell.
void add_literal(char c, std::string& glob) {
  if (std::string_view("*?[]\\").find(c) != std::string_view::npos) glob += '\\';
  glob += c;
}

// "core.%p" -> "core.*".
std::string glob_of(std::string_view pattern, bool uses_pid) {
  std::string glob;
  bool has_pid = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      add_literal(pattern[i], glob);
    } else if (++i < pattern.size()) {
      has_pid = has_pid || pattern[i] == 'p';
      if (pattern[i] == '%')
        glob += '%';
      else if (!glob.ends_with('*'))
        glob += '*';
    }
  }
  return uses_pid && !has_pid ? glob + ".*" : glob;
}

CorePlace nowhere(CoresGoElsewhere taken) {
  return {CorePlace::Kind::nowhere, {}, std::move(taken)};
}

// "|/usr/share/apport/apport -p%p …".
CorePlace place_of_program(std::string_view pattern, bool in_container) {
  const std::string_view program = pattern.substr(0, pattern.find(' '));
  const std::string_view name = program.substr(program.rfind('/') + 1);
  const std::string shown = in_one_line(head(program, kMostOfPattern));
  if (in_container) return nowhere({CoreTaker::program, shown, true});
  if (name == "systemd-coredump") return {CorePlace::Kind::systemd, {}, {}};
  // apport writes a core file if the limit allows it: beside the program, or in a folder of its
  // own.
  if (name == "apport")
    return {CorePlace::Kind::files, {"core", "core.*", "/var/lib/apport/coredump/core.*"}, {}};
  return nowhere({CoreTaker::program, shown, false});
}

Bytes bytes_from(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return Bytes{number};
}

}  // namespace

CorePlace core_place(std::string_view pattern, std::string_view uses_pid, bool in_container) {
  pattern = trimmed(pattern);
  const bool with_pid = !trimmed(uses_pid).empty() && trimmed(uses_pid) != "0";
  if (pattern.starts_with('|')) return place_of_program(pattern.substr(1), in_container);
  if (pattern.starts_with('@')) return nowhere({CoreTaker::socket, "", false});
  if (pattern.empty() && !with_pid) return nowhere({CoreTaker::nobody, "", false});
  return {CorePlace::Kind::files, {glob_of(pattern, with_pid)}, {}};
}

std::string kept_core(int rank) { return "logs/core.rank" + std::to_string(rank); }

std::vector<std::string> core_command(const CorePlace& place, const CoreOrder& order) {
  std::vector<std::string> words = {"/bin/sh",
                                    "-c",
                                    kScript,
                                    "sh",
                                    std::to_string(order.since),
                                    order.reads ? "1" : "0",
                                    order.keeps ? "1" : "0",
                                    std::to_string(order.rank),
                                    std::to_string(order.most.count),
                                    place.kind == CorePlace::Kind::systemd ? "systemd" : "files",
                                    kept_core(order.rank)};
  words.insert(words.end(), place.globs.begin(), place.globs.end());
  return words;
}

CoreSaid parse_core_said(std::string_view output) {
  CoreSaid said;
  bool of_tool = false;
  while (!output.empty()) {
    const auto end = output.find('\n');
    std::string_view line = output.substr(0, end);
    output = end == std::string_view::npos ? std::string_view() : output.substr(end + 1);
    if (!line.starts_with(kMark)) {
      if (of_tool) said.text.append(line).append("\n");
      continue;
    }
    line.remove_prefix(kMark.size());
    if (line.starts_with("size ")) {
      said.found = true;
      said.size = bytes_from(line.substr(5));
    } else if (line.starts_with("tool ")) {
      said.tool = line.substr(5);
      of_tool = true;
    } else if (line == "end") {
      of_tool = false;
    } else if (line == "kept") {
      said.is_kept = true;
    } else if (line == "large") {
      said.too_large = true;
    }
  }
  return said;
}

}  // namespace lockstep::runner
