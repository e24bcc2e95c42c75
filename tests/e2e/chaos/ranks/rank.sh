# The same account as rank.py's, kept by a shell. usage: sh rank.sh WITNESS SECONDS
set -e
home="$1/$LOCKSTEP_JOB/$LOCKSTEP_ATTEMPT/rank_$LOCKSTEP_RANK.$$-$(date +%s%N)"
mkdir -p "$home" outputs
trap 'code=$?; read -r up _ </proc/uptime; printf "{\"code\": %s, \"time\": %s}" $code $up >"$home/end.json"' EXIT
exec 9>"$home/alive"
flock 9
read -r up _ </proc/uptime
head -c 16 /dev/zero >"$home/counts"
: >"$home/stdout"
: >"$home/stderr"
printf '{"job": "%s", "attempt": %s, "rank": %s, "world": %s, "host": "%s", "time": %s, "others": []}' \
  "$LOCKSTEP_JOB" "$LOCKSTEP_ATTEMPT" "$LOCKSTEP_RANK" "$LOCKSTEP_WORLD_SIZE" "$(uname -n)" "$up" \
  >"$home/start.json.part"
mv "$home/start.json.part" "$home/start.json"
i=0
while [ $i -lt $(($2 * 10)) ]; do
  echo "rank $LOCKSTEP_RANK line $i" >>"$home/stdout"
  echo "rank $LOCKSTEP_RANK line $i"
  i=$((i + 1))
  sleep 0.1
done
# The disk of its node may be full for a while; what the shell says of that would be a line nobody accounts for.
until { echo "by rank $LOCKSTEP_RANK" >"outputs/sh_$LOCKSTEP_RANK"; } 2>/dev/null; do sleep 0.1; done
printf '{"sh_%s": "%s"}' "$LOCKSTEP_RANK" "$(sha256sum <"outputs/sh_$LOCKSTEP_RANK" | cut -d ' ' -f 1)" \
  >"$home/outputs.json"
