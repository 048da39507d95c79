#!/bin/sh
# Tests of the functions: `EDGEWEAVE_SIM=… sh clients/shell/test.sh`. Prints nothing, and ends with 0, if all hold.
set -eu

fail() {
  echo "$*" >&2
  exit 1
}

. "$(dirname "$0")/edgeweave.sh"

if edgeweave_start --prot 1 2> /dev/null; then fail 'a wrong option was accepted'; fi

printf '#!/bin/sh\nexec tail -f /dev/null\n' > "${TMPDIR:-/tmp}/edgeweave-silent.$$"
chmod 700 "${TMPDIR:-/tmp}/edgeweave-silent.$$"
silent=$( (
  looks=0
  sleep() { # a minute of looks without the minute
    looks=$((looks + 1))
    if [ "$looks" -gt 2000 ]; then echo 'waits without end'; kill "$edgeweave_pid"; exit 1; fi
  }
  EDGEWEAVE_SIM="${TMPDIR:-/tmp}/edgeweave-silent.$$" edgeweave_start 2>&1 && echo started
) || true)
rm -f "${TMPDIR:-/tmp}/edgeweave-silent.$$"
[ "$silent" = 'edgeweave: the program is not ready after a minute' ] || fail "a silent program: $silent"

edgeweave_start --password secret
trap edgeweave_stop EXIT
[ "$(edgeweave_value password)" = secret ] || fail 'the ready line has another password'
[ "$(edgeweave_value port)" -gt 0 ] || fail 'the ready line has no port'
[ -s "$(edgeweave_value ca)" ] || fail 'there are no certificate authorities'
edgeweave clock --advance 2d > /dev/null
edgeweave clock | grep -q 'advanced by 48h' || fail 'the clock was not advanced'
edgeweave reset > /dev/null
edgeweave clock | grep -q advanced && fail 'the reset kept the clock'
edgeweave identity anna | grep -q '"ztAPI"' || fail 'no identity was enrolled'
pid=$(edgeweave_value pid)
edgeweave_stop
kill -0 "$pid" 2> /dev/null && fail 'the simulator still runs'
edgeweave_stop

edgeweave_network --routers 2
address=$(edgeweave service echo --router b --to 9)
case $address in 127.0.0.1:*) ;; *) fail "the address of the service is $address" ;; esac
edgeweave why dial a echo > /dev/null || fail 'everybody may dial it'
edgeweave fault disconnect a > /dev/null
[ "$(edgeweave ready)" = ready ] || fail 'the network is not ready'
edgeweave why link a b > /dev/null || fail 'the router is not connected again'
edgeweave fault add --kind link --cut > /dev/null
if edgeweave ready --timeout 200ms 2> /dev/null; then fail 'a network without links is ready'; fi
edgeweave_stop

# A shell that is killed leaves nothing behind.
printed=$(mktemp)
sh -c '. "$1"; edgeweave_start; edgeweave_value pid; exec sleep 600' sh "$(dirname "$0")/edgeweave.sh" > "$printed" &
runner=$!
until [ -s "$printed" ]; do sleep 0.05; done
pid=$(cat "$printed")
rm "$printed"
kill -KILL "$runner"
wait "$runner" 2> /dev/null || true
turns=400
while kill -0 "$pid" 2> /dev/null && ! grep -q ') Z ' "/proc/$pid/stat" 2> /dev/null; do
  turns=$((turns - 1))
  [ "$turns" -gt 0 ] || fail 'the simulator still runs'
  sleep 0.05
done
