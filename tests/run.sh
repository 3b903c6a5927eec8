#!/usr/bin/env bash
# All tests, those on a private SLURM cluster beside the others: nearly all of these is waiting. Speed is measured last,
# on a machine that does nothing else. The exit code is 0 only if all three groups passed.
#
#     tests/run.sh [PYTHON]
set -uo pipefail
cd "$(dirname "$0")/.."
pytest=("${1:-python}" -m pytest --durations=10)
folder=$(mktemp -d)
export STELE_TEST_CHAIN=$folder # the short chain, built once for all groups

# a group of its own, which hears SIGINT: an interrupt reaches it from here, so that it ends its clusters
env --default-signal=INT setsid "${pytest[@]}" tests/cluster -n 3 --dist loadfile --no-loadscope-reorder \
  >"$folder/cluster.log" 2>&1 &
cluster=$!
trap 'kill -INT -- -$cluster 2>/dev/null; wait $cluster; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

failed=0
"${pytest[@]}" --ignore=tests/cluster --ignore=tests/benchmarks || failed=1
wait $cluster || failed=1
echo "== those on a private SLURM cluster, which ran beside these"
cat "$folder/cluster.log"
echo "== those of speed"
"${pytest[@]}" tests/benchmarks || failed=1
exit $failed
