#include "launcher/compute/slurm/job_script.h"

#include <fmt/format.h>

namespace lockstep::compute::slurm {
namespace {

// The agent's home is on the node's own disk, and is removed with the job. Slurm may miss processes
// (proctrack/linuxproc does not see detached ones), so every process that names this home or works
// below it is ended here. Slurm sends SIGTERM before it takes the node, and SIGKILL KillWait
// seconds later. If Slurm gave the job less than the node has, the agent offers only that.
constexpr const char* kScript = R"sh(
umask 077
tmp=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}
home=$(mktemp -d "$tmp/lockstep-$scope-$name.$SLURM_JOB_ID.XXXXXX") || exit 1
umask 022
[ "$(id -u)" != 0 ] || chmod 711 "$home"  # ranks of other users pass through it to their own
child='' stop=''
trap 'stop=1; [ -z "$child" ] || kill "$child" 2>/dev/null' TERM INT HUP
mine() {
  for p in /proc/[0-9]*; do
    [ "${p#/proc/}" != $$ ] || continue
    case $(readlink "$p/cwd" 2>/dev/null) in "$home"|"$home"/*) echo "${p#/proc/}"; continue ;; esac
    tr '\000' '\n' 2>/dev/null < "$p/cmdline" | grep -qF "$home/" && echo "${p#/proc/}"
  done
}
leave() {
  cd /
  for n in 1 2 3; do
    left=$(mine)
    [ -n "$left" ] || break
    kill -9 $left 2>/dev/null
  done
  rm -rf --one-file-system "$home"
}
trap leave EXIT
wait=$(scontrol show config 2>/dev/null | sed -n 's/^KillWait *= *\([0-9][0-9]*\).*/\1/p')
[ "${wait:-0}" -gt 1 ] || wait=30
set -- --home "$home/agent" --name "$name" --token-file "$token" --taken-on-sigterm "$((wait - 1))s"
if [ -n "${SLURM_CPUS_ON_NODE:-}" ] && [ "$SLURM_CPUS_ON_NODE" -lt "$(nproc)" ]; then
  set -- "$@" --cpus "$SLURM_CPUS_ON_NODE"
fi
[ "${SLURM_MEM_PER_NODE:-0}" = 0 ] || set -- "$@" --memory "${SLURM_MEM_PER_NODE}m"
case ${CUDA_VISIBLE_DEVICES:-} in
  '') ;;
  *[!0-9,]*) ;;
  *,*) set -- "$@" --gpus "$CUDA_VISIBLE_DEVICES" ;;
  *) set -- "$@" --gpus "$CUDA_VISIBLE_DEVICES-$CUDA_VISIBLE_DEVICES" ;;
esac
while [ -z "$stop" ]; do
  "$bundle/bin/lockstep-agent" "$@" < /dev/null &
  child=$!
  wait "$child"
  code=$?
  while kill -0 "$child" 2>/dev/null; do wait "$child"; code=$?; done
  child=''
  case $code in 0|2) break ;; esac
  [ -f "$home/agent/identity.json" ] || break
  [ -z "$stop" ] || break
  sleep 5 &
  child=$!
  wait "$child"
  child=''
done
[ -n "$stop" ] || exit "$code"
)sh";

}  // namespace

std::string job_script(const NodeJob& job) {
  return fmt::format(
             "#!/bin/sh\n"
             "# A node of Lockstep. `lockstep compute delete` and scancel end it.\n"
             "name='{}' scope='{}' bundle='{}' token='{}'",
             job.name, job.scope, job.bundle, job.token) +
         kScript;
}

}  // namespace lockstep::compute::slurm
