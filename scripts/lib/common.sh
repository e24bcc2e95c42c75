# Sourced by the scripts: where things are, what has to be installed, how to build.
# Idempotent; the second time it only looks.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

# What the product needs to build and to run its main job. docs/dependencies.md says why each is here.
build_packages=(
  ca-certificates ccache cmake g++ git ninja-build pkg-config
  cppzmq-dev libboost-dev libcli11-dev libexpected-dev libfmt-dev libhowardhinnant-date-dev libhwloc-dev libmimalloc-dev libpmix-dev libprotobuf-dev libre2-dev
  libsodium-dev libspdlog-dev libsqlite3-dev libssl-dev libyaml-cpp-dev libzmq3-dev libzstd-dev
  nlohmann-json3-dev protobuf-compiler tzdata
)
run_packages=(curl elfutils libopenmpi-dev openmpi-bin python3 python3-mpi4py python3-numpy python3-pip python3-sklearn)
test_packages=(
  busybox-static debootstrap docker.io docker-registry etcd-server gdb iproute2 iptables iputils-ping libbenchmark-dev libgmock-dev
  libgtest-dev openssh-server procps dpkg-dev file podman rclone uidmap python3-jsonschema python3-pytest python3-torch python3-venv
  fish ibverbs-providers man-db munge qemu-system-x86 slurm-client slurmctld slurmd systemd util-linux zsh
)
# Another kubectl than Debian's is as good, and its package may not stand beside Debian's.
command -v kubectl >/dev/null || test_packages+=(kubernetes-client)
check_packages=(clang clang-format clang-tidy libclang-rt-14-dev libfuzzer-14-dev)

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
# Prints the opening comment of the script that runs.
show_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$root/scripts/$(basename "$0")"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# install_packages NAME…: those that are missing, from apt.
install_packages() {
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "these packages are missing; install them as root: ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  # The tests start servers of their own; one that is installed for them alone serves nobody else (sshd(8) of
  # Debian does not start while this file is there).
  case " ${missing[*]} " in
    *' openssh-server '*) "${sudo[@]}" mkdir -p /etc/ssh && "${sudo[@]}" touch /etc/ssh/sshd_not_to_be_run ;;
  esac
  case " ${missing[*]} " in
    *' etcd-server '*) "${sudo[@]}" mkdir -p /etc/systemd/system && "${sudo[@]}" ln -sf /dev/null /etc/systemd/system/etcd.service ;;
  esac
  local log
  log=$(mktemp)
  if ! { "${sudo[@]}" apt-get update -qq &&
         "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
           --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -20 "$log" >&2
    die "apt-get failed; its log is $log"
  fi
  rm -f "$log"
}

# build DIRECTORY TARGETS… -- CMAKE-OPTIONS…
build() {
  local directory=$1; shift
  local targets=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do targets+=("$1"); shift; done
  [ $# -gt 0 ] && shift
  local launcher=()
  # Without the two, ccache does not work with precompiled headers; without the folder, not in another checkout.
  command -v ccache >/dev/null &&
    launcher=("-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR=$root;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache")
  local log="$directory/configure.log"
  mkdir -p "$directory"
  if ! cmake -G Ninja -S "$root" -B "$directory" "${launcher[@]}" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    die "cmake could not configure $directory"
  fi
  make_targets "$directory" "${targets[@]}"
}

# fetch_tools DIRECTORY: py-spy into DIRECTORY/bin/tools, where a node looks for it (`lockstep job stacks`). Debian has none.
# Without the index of Python packages it is left out: then the tools of a job's own environment serve.
fetch_tools() {
  local folder=$1/bin/tools wheel
  [ ! -x "$folder/py-spy" ] || return 0
  wheel=$(mktemp -d)
  local wanted='py-spy==0.4.3'
  [ "$(uname -m)" != x86_64 ] ||
    wanted+=' --hash=sha256:8a4277225f470d394a85cca0cdd944bef87f0097b6f20150a6dd3ac2e92806b8'
  echo "$wanted" >"$wheel/wanted.txt"
  if /usr/bin/python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$wheel" -r "$wheel/wanted.txt" >"$wheel/log" 2>&1 &&
     /usr/bin/python3 -m zipfile -e "$wheel"/py_spy-*.whl "$wheel"; then
    install -D -m 755 "$wheel"/py_spy-*.data/scripts/py-spy "$folder/py-spy"
  else
    say "py-spy could not be fetched: \`lockstep job stacks\` shows Python's stacks only where a job's environment has it"
  fi
  rm -rf "$wheel"
}

# make_targets DIRECTORY TARGETS…: in a directory that is configured. Ninja itself does not keep two runs apart.
make_targets() {
  flock "$1/.ninja_running" ninja -C "$@"
}
