#!/bin/bash
# The NEON kernels give the bytes of plain C: builds kernels/ for 64-bit ARM and runs check_neon.c in qemu-aarch64.
if [ -n "${MSCACHE_TEST_FEW:-}" ]; then
    echo "skipped: this test builds the kernels itself, as it does in every build" >&2
    exit 77
fi
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
root=/usr/aarch64-linux-gnu
for tool in "$cc" qemu-aarch64; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: $tool is missing (apt-get install gcc-aarch64-linux-gnu qemu-user)" >&2
        exit 77
    fi
done
if [ ! -e "$root/lib/ld-linux-aarch64.so.1" ]; then
    echo "skipped: no C library for 64-bit ARM in $root (apt-get install libc6-dev-arm64-cross)" >&2
    exit 77
fi

src=${MSCACHE_SRC:-$(dirname "$0")/../..}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
echo '#define ARCH_ARM64 1' >"$dir/config.h"
"$cc" -std=c11 -D_GNU_SOURCE -O2 -ffp-contract=off -Wall -Wextra -Wshadow -Werror -I"$dir" -I"$src" \
    -o "$dir/check_neon" "$src/tests/kernels/check_neon.c" "$src"/kernels/*.c "$src"/kernels/arm/*.c -lm || exit 1
qemu-aarch64 -L "$root" "$dir/check_neon"
