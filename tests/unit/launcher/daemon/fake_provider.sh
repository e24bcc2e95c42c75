#!/bin/bash
# A provider with faults, for provider_calls_test: fake_provider.sh FOLDER KNOB VERB. What it was
# given is written to FOLDER: VERB.request, VERB.words, VERB.environment, and pids, one a line.
folder=$1 knob=$2 verb=$3
echo $$ >> "$folder/pids"
tr '\0' '\n' < /proc/$$/cmdline > "$folder/$verb.words"
tr '\0' '\n' < /proc/$$/environ > "$folder/$verb.environment"
[ "$verb" = hold ] || cat > "$folder/$verb.request"

step() { echo "{\"event\":\"step\",\"machine\":\"$1\",\"step\":\"$2\"}"; }
runs() { echo "{\"event\":\"machine\",\"machine\":\"$1\",\"state\":\"${2:-running}\",\"about\":{\"architecture\":\"x86_64\",\"tunnel\":true}}"; }
fails() { echo "{\"event\":\"error\",\"machine\":\"$1\",\"step\":\"connect\",\"code\":\"$2\",\"message\":\"$3\"}"; }

case $knob in
  good) step vm1 connect; runs vm1; fails vm2 unreachable "no route"; exit 1 ;;
  silent) ;;
  bad-settings) fails vms unsupported 'there is no image a'; fails vms failed 'nor b'; exit 1 ;;
  garbage) echo 'what?'; echo '[]'; echo '{"event":"party","machine":"vm1"}'; echo; runs vm1 ;;
  others) runs vm9; fails vm8 failed why; runs vm1 ;;
  halves) printf '{"event":"step","mach'; sleep 0.2; printf 'ine":"vm1","step":"a"}\n{"event":"step","machine":"vm1","step":"b"}' ;;
  endless) step vm1 connect; while :; do printf '%065536d' 0; done ;;
  many) for ((i = 0; i < 200; ++i)); do step vm1 "s$i"; done; sleep 1000 ;;
  slow) sleep 1000 ;;
  stubborn) trap '' TERM; while :; do sleep 1000; done ;;
  crash) runs vm1; kill -SEGV $$ ;;
  refuses) echo first >&2; echo 'the request has no sense' >&2; exit 2 ;;
  odd) echo 'not today' >&2; exit 9 ;;
  fork) runs vm1; sleep 1000 & echo $! >> "$folder/pids"; disown; exit 0 ;;
  noisy) for ((i = 0; i < 40000; ++i)); do echo "line $i of standard error, again and again"; done >&2; runs vm1 ;;
  tells) cat "$folder/$verb.request" >&2; fails vm1 failed "$(grep -o 'hunter[0-9a-z]*' "$folder/$verb.request" | head -1) $(grep -o 'lockstep-token-1[^"]*' "$folder/$verb.request" | head -1)" ;;
  turn) echo "begin $$" >> "$folder/turns"; sleep 0.2; echo "end $$" >> "$folder/turns" ;;
  hold) read -r line; echo "$line" > "$folder/hold.request"; step vm1 tunnel; echo up >> "$folder/ups"
        cat > "$folder/rest"; echo down >> "$folder/ups" ;;
  hold-notices) read -r line; for machine in vm1 vm9; do
        echo "{\"event\":\"notice\",\"machine\":\"$machine\",\"seconds\":90,\"message\":\"spot hunter2secret\"}"; done
        cat > "$folder/rest" ;;
  hold-dies) read -r line; echo up >> "$folder/ups"; echo 'lost it' >&2; exit 3 ;;
  hold-stays) trap '' TERM; read -r line; echo up >> "$folder/ups"; while :; do sleep 1000; done ;;
esac
