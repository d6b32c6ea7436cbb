#!/bin/sh
# Outcome and pixels of every image whose right result is written down: odd/MANIFEST.tsv and imagefolder/MANIFEST.tsv of the test data.
set -u
data=${MSCACHE_TEST_DATA:-$MSCACHE_SRC/../shared/data}
raw=$MSCACHE_BUILD/tests/decoders/decode_raw
if [ ! -f "$data/odd/MANIFEST.tsv" ]; then
    echo "skipped: no test data in $data (MSCACHE_TEST_DATA)"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
tab=$(printf '\t')

# columns FILE NAME...: these columns of a table, chosen by the names in its first line, "-" where empty.
columns() {
    file=$1
    shift
    awk -F'\t' -v names="$*" '
        NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
        { for (i = 1; i <= n; i++) { v = $at[want[i]]; printf "%s%s", v == "" ? "-" : v, i < n ? "\t" : "\n" } }' "$file"
}

# decode FILE: sets `outcome`, `message` and `sum` (of the raw pixels; "-" without pixels).
decode() {
    sum=$("$raw" "$1" 2>"$work/outcome" | sha256sum | cut -d' ' -f1)
    IFS=$tab read -r outcome message <"$work/outcome"
    case $outcome in error:*) sum=- ;; esac
}

# Coefficients out of range give other bytes in libjpeg-turbo's C code than in its SIMD code: only the outcome is sure.
hash_is_sure() {
    [ "$1" != jpg_ascii_ftp_crlf.jpg ]
}

odd=0 right=0
columns "$data/odd/MANIFEST.tsv" file expect want_rgb_sha256 >"$work/odd"
while IFS=$tab read -r name expect want; do
    odd=$((odd + 1))
    decode "$data/odd/$name"
    if [ "$outcome" != "$expect" ]; then
        echo "$name: $outcome ($message), not $expect"
    elif [ "$sum" != "$want" ] && hash_is_sure "$name"; then
        echo "$name: the pixels differ"
    else
        right=$((right + 1))
    fi
done <"$work/odd"
echo "odd images: $right of $odd"

photos=0 same=0
columns "$data/imagefolder/MANIFEST.tsv" file rgb_sha256 >"$work/photos"
while IFS=$tab read -r name want; do
    photos=$((photos + 1))
    decode "$data/imagefolder/$name"
    if [ "$sum" = "$want" ]; then
        same=$((same + 1))
    else
        echo "$name: $outcome ($message): the pixels differ"
    fi
done <"$work/photos"
echo "photographs: $same of $photos"

[ "$odd" -gt 0 ] && [ "$photos" -gt 0 ] && [ "$right" = "$odd" ] && [ "$same" = "$photos" ]
