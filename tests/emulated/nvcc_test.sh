#!/bin/bash
# Compiles GPU kernels with warnings as errors, and fails if one keeps registers in memory (spills).
# Run in the source folder: nvcc_test.sh NVCC ARCHITECTURE FILE.cu...
set -euo pipefail
nvcc=$1 arch=$2
shift 2
report=$(mktemp)
trap 'rm -f "$report"' EXIT
for file in "$@"; do
  "$nvcc" -std=c++20 -arch="$arch" -Werror all-warnings -Xptxas -v -Ilib -Itests -cubin -o /dev/null "$file" \
    2>"$report" || { cat "$report"; exit 1; }
  kernels=$(grep -c "bytes spill stores" "$report" || true)
  if grep "bytes spill stores" "$report" | grep -v " 0 bytes spill stores, 0 bytes spill loads"; then
    echo "$file: registers are spilled"
    exit 1
  fi
  echo "$file: $kernels functions, no spills"
done
