// The script that starts the agent: as a systemd unit if systemd can keep it running, otherwise
// under a shell script of ours.

#include "launcher/compute/ssh/scripts.h"

namespace lockstep::compute::ssh {
namespace {

// start_agent starts it once. `$1` is the directory, the rest are the agent's arguments.
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

// Settings for jobs from cmake/package/lockstep-agent.service.in, for the same reasons. A person's
// own systemd cannot set them.
constexpr const char* kSystemLines = R"(TasksMax=infinity
LimitMEMLOCK=infinity
LimitNOFILE=1048576
ExecStartPre=-+/bin/sh -c 'if command -v nvidia-modprobe; then nvidia-modprobe -c 0 -u; fi'
CapabilityBoundingSet=CAP_SYS_ADMIN CAP_SYS_CHROOT CAP_SYS_RESOURCE CAP_SYS_NICE CAP_SYS_PTRACE
CapabilityBoundingSet=CAP_CHOWN CAP_FOWNER CAP_FSETID CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH
CapabilityBoundingSet=CAP_KILL CAP_SETUID CAP_SETGID CAP_SETPCAP CAP_SETFCAP CAP_IPC_LOCK
CapabilityBoundingSet=CAP_MKNOD CAP_NET_RAW CAP_NET_BIND_SERVICE CAP_AUDIT_WRITE
ProtectSystem=yes
InaccessiblePaths=-/var/lib/lockstep/launcher
)";

// `unit`: prints the unit's text; its arguments are the agent's.
constexpr const char* kUnitBegin = R"sh(
unit() {
  cat << LOCKSTEP_UNIT
[Unit]
Description=Lockstep agent of node $name ($tag)
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
WorkingDirectory=$d
ExecStart="$d/current/bin/lockstep-agent" --home "$d/agent" $*
StandardOutput=append:$d/log
StandardError=append:$d/log
Restart=always
RestartSec=5
# A wrong flag stays wrong.
RestartPreventExitStatus=2
# Jobs outlive a restart of the agent, and one that runs out of memory is not the agent's end.
KillMode=process
Delegate=yes
OOMPolicy=continue
LOCKSTEP_UNIT
  [ "$mode" != system ] || cat << 'LOCKSTEP_UNIT'
)sh";
constexpr const char* kUnitEnd = R"sh(LOCKSTEP_UNIT
  printf '\n[Install]\nWantedBy=%s.target\n' "$([ "$mode" = user ] && echo default || echo multi-user)"
}
)sh";

// `supervisor`: prints system, user or process. systemd can append to a log from version 240 on. A
// user's systemd must outlive the user's sessions (lingering). If a unit would have to quote a
// path, our own script is used.
constexpr const char* kSupervisor = R"sh(
supervisor() {
  [ -d /run/systemd/system ] && command -v systemctl > /dev/null || { echo process; return; }
  set -- $(systemctl --version 2>/dev/null | head -n 1)
  case ${2:-} in ''|*[!0-9]*) echo process; return ;; esac
  [ "$2" -ge 240 ] || { echo process; return; }
  case $d in *[!A-Za-z0-9/._+-]*) echo process; return ;; esac
  if [ "$(id -u)" = 0 ]; then echo system
  elif [ -e "/var/lib/systemd/linger/$(id -un)" ] && (mode=user; sc show-environment) > /dev/null 2>&1
  then echo user
  else echo process
  fi
}
start_agent() {
  : > log.new
  [ ! -f log ] || mv log log.1
  mv log.new log
  rm -f pid
  echo "$share" > share
  if [ "$mode" != process ]; then
    mkdir -p "$(dirname "$(unit_file)")" && unit "$@" > "$(unit_file)" && sc daemon-reload &&
      sc enable "$u" && sc restart "$u" && return 0
    forget_unit
    return 1
  fi
  setsid sh "$d/keep" "$d" "$@" < /dev/null >> log 2>&1 &
}
)sh";

constexpr const char* kStart = R"sh(
if [ -n "$restarts" ] || { is_running && [ "$(readlink current 2>/dev/null)" != "$b" ]; }; then
  stop_agent
fi
rm -f current.new
ln -s "$b" current.new
mv -T current.new current
set -- --name "$name" --token-file "$d/token" --share "$share"
[ -n "$tunnelled" ] || [ -f agent/identity.json ] || rm -f tunnel
if [ -n "$tunnelled" ]; then
  address=$(echo "${SSH_CONNECTION:-}" | cut -d ' ' -f 3)
  case $address in
    ''|*[!0-9a-fA-F.:]*|127.*|::1|fe80:*) address=all ;;
  esac
  set -- "$@" --advertise "$address"
else
  set -- "$@" --advertise all
fi
if ! is_running; then
  wanted=$(supervisor)
  [ "$mode" = "$wanted" ] || forget_unit > /dev/null 2>&1
  mode=$wanted
  if ! start_agent "$@" > start.log 2>&1; then
    unsupervised="$(grep -v '^Created\|^See ' start.log | tail -n 1 | head -c 300)"
    mode=process
    start_agent "$@"
  fi
  rm -f start.log
  echo "$mode" > supervisor
fi
n=0
is_linked() {
  link=$(linked)
  [ -n "$link" ] && { [ -z "$control" ] || [ "$link" = "$control" ]; }
}
while ! is_linked && [ $n -lt 400 ]; do
  sleep 0.1
  n=$((n + 1))
  [ ! -f agent/identity.json ] && grep -q ' error \|^lockstep-agent: ' log 2>/dev/null && break
done
echo lockstep-begin
[ -z "${unsupervised:-}" ] || echo "unsupervised $unsupervised"
if [ -f agent/identity.json ]; then
  rm -f token
  echo "joined yes"
  is_linked || echo "why $(tail -n 1 log | head -c 900)"
  [ -z "$link" ] || echo "connected $link"
else
  echo "why $(tail -n 1 log | head -c 900)"
  stop_agent
  forget_unit > /dev/null 2>&1
fi
for old in bundle-*; do
  [ "$old" = "$b" ] && continue
  used=''
  for e in /proc/[0-9]*/exe; do
    case $(readlink "$e" 2>/dev/null) in "$d/$old"/*) used=1 ;; esac
  done
  [ -n "$used" ] || rm -rf "$old"
done
echo lockstep-end
)sh";

}  // namespace

std::string start_script(const Install& install, const Start& start) {
  const std::string put_token =
      start.token.empty() ? ""
                          : "(umask 077; cat > $token.new << 'LOCKSTEP_TOKEN'\n" + start.token +
                                "\nLOCKSTEP_TOKEN\n)\nmv $token.new $token\n";
  const auto flag = [](bool is_set) { return std::string(is_set ? "1" : "''"); };
  // An agent that has joined reads `moved` by itself.
  return script_head(install) + kUnitBegin + kSystemLines + kUnitEnd + kSupervisor +
         "tunnelled=" + flag(start.tunnelled) + " restarts=" + flag(start.restarts) + " control='" +
         start.control + "' share='" + words_of_share(install) + "'\ncd \"$d\" || exit 1\n" +
         "token=token\n"
         "[ ! -f agent/identity.json ] || token=agent/moved\n" +
         put_token + "cat > keep << 'LOCKSTEP_KEEP'\n" + kKeep + "LOCKSTEP_KEEP\n" + kStart;
}

}  // namespace lockstep::compute::ssh
