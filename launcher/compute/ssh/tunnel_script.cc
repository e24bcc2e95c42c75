// Scripts about the ports of a tunnel on the host.

#include <fmt/format.h>

#include "launcher/compute/ssh/scripts.h"

namespace lockstep::compute::ssh {
namespace {

// `listeners PORT`: prints the addresses, as the kernel writes them, on which programs listen on
// the port.
constexpr const char* kListeners = R"sh(
listeners() {
  sed -n "s/^ *[0-9]*: \([0-9A-F]*\):$(printf %04X "$1") [0-9A-F:]* 0A .*/\1/p" \
    /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
)sh";

// The tunnel uses three ports in a row, below those that the kernel gives to outgoing connections.
constexpr const char* kTunnel = R"sh(
echo lockstep-begin
echo "seen yes"
finish() { echo lockstep-end; exit 0; }
[ -O "$d" ] && [ ! -L "$d" ] && [ "$(head -n 1 "$d/tag" 2>/dev/null)" = "$tag" ] ||
  { echo "absent yes"; finish; }
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }
set -- $(head -c 100 "$d/tunnel.session" 2>/dev/null)
case "${1:-}-${2:-}" in
  *[!0-9-]*|-*|*-|"$PPID"-*) ;;
  *) if [ "$(start_of "$1")" = "$2" ]; then
       kill "$1" 2>/dev/null
       n=0
       while [ "$(start_of "$1")" = "$2" ] && [ $n -lt 50 ]; do
         sleep 0.1
         n=$((n + 1))
         [ $n -ne 30 ] || kill -9 "$1" 2>/dev/null
       done
     fi ;;
esac
echo "$PPID $(start_of "$PPID")" > "$d/tunnel.session"
port=$(head -c 10 "$d/tunnel" 2>/dev/null)
if [ -z "$port" ] && [ -n "$chooses" ]; then
  n=0
  while [ -z "$port" ] && [ $n -lt 100 ]; do
    n=$((n + 1))
    p=$((20000 + $(od -An -N2 -tu2 /dev/urandom | tr -d ' ') % 4000 * 3))
    [ -n "$(listeners $p; listeners $((p + 1)); listeners $((p + 2)))" ] || port=$p
  done
  echo "$port" > "$d/tunnel.new" && mv "$d/tunnel.new" "$d/tunnel"
fi
[ -n "$port" ] && echo "port $port"
finish
)sh";

}  // namespace

std::string tunnel_script(const Install& install, bool chooses) {
  return script_head(install) + kListeners + "chooses=" + (chooses ? "1" : "''") + kTunnel;
}

std::string tunnel_ports_script(int port) {
  return "LC_ALL=C; export LC_ALL\n" + std::string(kListeners) +
         fmt::format("set -- {} {} {}\n", port, port + 1, port + 2) + R"sh(
echo lockstep-begin
echo "seen yes"
for p; do
  for address in $(listeners "$p"); do
    echo "bound $p"
    case $address in
      0100007F|00000000000000000000000001000000) ;;
      *) echo "open $p" ;;
    esac
  done
done
echo lockstep-end
)sh";
}

}  // namespace lockstep::compute::ssh
