#!/usr/bin/env bash
# All tests, in three groups beside each other: those on a private SLURM cluster, of which nearly all is waiting, and two
# halves of the others. Speed is measured last, on a machine that does nothing else. The exit code is 0 only if all passed.
#
#     tests/run.sh [PYTHON]
set -uo pipefail
cd "$(dirname "$0")/.."
pytest=("${1:-python}" -m pytest --durations=10)
stages=(corpora finetuning pairs pretraining retrieval sources training) # they take as long as all the others
folder=$(mktemp -d)
export STELE_TEST_CHAIN=$folder # the short chain, built once for all groups
groups=() processes=()

# a group of its own, which hears SIGINT: an interrupt reaches it from here, so that it ends its clusters
beside() {
  env --default-signal=INT setsid "${pytest[@]}" "${@:2}" >"$folder/$1.log" 2>&1 &
  groups+=("$1") processes+=($!)
}

finish() {
  for process in "${processes[@]}"; do kill -INT -- "-$process" 2>/dev/null; done
  wait "${processes[@]}"
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

beside cluster tests/cluster -n 3 --dist loadfile --no-loadscope-reorder
beside stages "${stages[@]/#/tests/}"
failed=0
"${pytest[@]}" --ignore=tests/cluster --ignore=tests/speed "${stages[@]/#/--ignore=tests/}" || failed=1
for number in "${!groups[@]}"; do
  wait "${processes[$number]}" || failed=1
  echo "== ${groups[$number]}, which ran beside these"
  cat "$folder/${groups[$number]}.log"
done
echo "== those of speed"
"${pytest[@]}" tests/speed || failed=1
exit $failed
