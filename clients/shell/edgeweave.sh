# Functions for tests in a shell, and in any language whose tests a shell starts (C, Rust, …). POSIX sh; they need only the
# executable edgeweave-sim: that of the variable EDGEWEAVE_SIM, else the one on the PATH.
#
#   . clients/shell/edgeweave.sh
#   edgeweave_start              # or edgeweave_network --routers 3
#   trap edgeweave_stop EXIT
#   edgeweave clock --advance 31m
#   curl --cacert "$(edgeweave_value ca)" "$(edgeweave_value management)/version"
#   edgeweave reset

# Runs a command of the program; those that control a simulator find the running one.
edgeweave() {
  "${EDGEWEAVE_SIM:-edgeweave-sim}" "$@"
}

# Starts a simulator; the options are those of `edgeweave-sim start`.
edgeweave_start() {
  edgeweave_run start "$@"
}

# Starts a simulator and linked routers; the options are those of `edgeweave-sim network`.
edgeweave_network() {
  edgeweave_run network "$@"
}

# Prints a text or a number of the ready line, such as ca, management, client, ctrl, port or labToken.
edgeweave_value() {
  sed -n -E 's/.*"'"$1"'":"?([^",}]*)"?[,}].*/\1/p' "$EDGEWEAVE_SIM_READY"
}

# Stops the simulator, and removes its files. A second call has no effect.
edgeweave_stop() {
  [ -n "${edgeweave_pid:-}" ] || return 0
  kill "$edgeweave_pid" 2> /dev/null || true
  wait "$edgeweave_pid" 2> /dev/null || true
  rm -rf "$edgeweave_folder"
  edgeweave_pid=
}

# Returns when the program is ready, or fails after a minute (1200 looks). With the end of the calling shell, however it ends, the program stops.
edgeweave_run() {
  edgeweave_folder=$(mktemp -d) || return 1
  export EDGEWEAVE_SIM_READY="$edgeweave_folder/ready.json"
  "${EDGEWEAVE_SIM:-edgeweave-sim}" "$@" --json --exit-with-parent $$ > "$EDGEWEAVE_SIM_READY" 2> "$edgeweave_folder/log" &
  edgeweave_pid=$!
  edgeweave_looks=0
  until [ -s "$EDGEWEAVE_SIM_READY" ]; do
    edgeweave_looks=$((edgeweave_looks + 1))
    if [ "$edgeweave_looks" -gt 1200 ]; then
      cat "$edgeweave_folder/log" >&2
      echo 'edgeweave: the program is not ready after a minute' >&2
      edgeweave_stop
      return 1
    fi
    if ! kill -0 "$edgeweave_pid" 2> /dev/null; then
      cat "$edgeweave_folder/log" >&2
      edgeweave_stop
      return 1
    fi
    sleep 0.05
  done
}
