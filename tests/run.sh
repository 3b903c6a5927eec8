#!/usr/bin/env bash
# The quick tests, or all: those on a private SLURM cluster, of which most is waiting, beside the others on two cores,
# first the whole workflow and speed (tiny sizes, nothing is timed), which take longest. The exit code is 0 only if all
# passed.
#
#     tests/run.sh PYTHON quick|all
set -uo pipefail
# In the background (nohup, CI) a shell has SIGINT ignored, which no trap undoes: start anew, as on a terminal
[ -z "$(trap -p INT)" ] || exec env --default-signal=INT "$0" "$@"
cd "$(dirname "$0")/.."
# a failure is shown when it happens, and a test that waits for ever fails: a run that is cut off says what it found
pytest=("$1" -m pytest --quiet --durations=10 --instafail --timeout=1200)
files=(--dist loadfile --no-loadscope-reorder)
if [ "$2" = quick ]; then
  exec "${pytest[@]}" tests --ignore=tests/cluster --ignore=tests/speed -m "not slow" -n 2 "${files[@]}"
fi
folder=$(mktemp -d)
export STELE_TEST_CHAIN=$folder # the short chain, built once for all processes

# a group of its own, which hears SIGINT: an interrupt reaches it from here, so that it ends its clusters
env --default-signal=INT setsid "${pytest[@]}" tests/cluster -n 3 "${files[@]}" >"$folder/log" 2>&1 &
cluster=$!

finish() {
  kill -INT -- "-$cluster" 2>/dev/null
  wait "$cluster"
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

failed=0
# Each folder by its name: of a folder and one within it pytest keeps the outer alone, in alphabetical order
mapfile -t others < <(find tests -mindepth 1 -maxdepth 1 \( -type d ! -name '[_.]*' -o -name 'test_*.py' \) \
  ! -name cluster ! -name workflow ! -name speed | sort)
"${pytest[@]}" tests/workflow tests/speed "${others[@]}" -n 2 "${files[@]}" || failed=1
wait "$cluster" || failed=1
echo "== those of the cluster, which ran beside these"
cat "$folder/log"
exit $failed
