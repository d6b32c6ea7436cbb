#!/bin/sh
# Outcome and pixels, as stored and turned by Exif, of every image whose right result is written down: odd/MANIFEST.tsv and
# imagefolder/MANIFEST.tsv of the test data.
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

# tell TEXT: into the log and to who watches `make check`.
tell() {
    echo "$1"
    { echo "$1" >&9; } 2>/dev/null
}

# columns FILE NAME...: these columns of a table, chosen by the names in its first line, "-" where empty.
columns() {
    file=$1
    shift
    awk -F'\t' -v names="$*" '
        NR == 1 { n = split(names, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
        { for (i = 1; i <= n; i++) { v = $at[want[i]]; printf "%s%s", v == "" ? "-" : v, i < n ? "\t" : "\n" } }' "$file"
}

# decode [OPTION] FILE: sets `outcome`, `message`, `form` and `sum` (of the raw pixels; "-" without pixels).
decode() {
    sum=$("$raw" "$@" 2>"$work/outcome" | sha256sum | cut -d' ' -f1)
    form=-
    IFS=$tab read -r outcome message form rest <"$work/outcome"
    case $outcome in
    ok) form=$message ;; # no message: read takes two tabs for one
    error:*) sum=- form=- ;;
    esac
}

# Coefficients out of range give other bytes in libjpeg-turbo's C code than in its SIMD code: only the outcome is sure.
hash_is_sure() {
    [ "$1" != jpg_ascii_ftp_crlf.jpg ]
}

# is_right NAME EXPECT SUM SIZE: what was decoded is what it should be; SIZE "-", and that of an error, is not looked at.
is_right() {
    if [ "$outcome" != "$2" ]; then
        echo "$1: $outcome ($message), not $2"
    elif [ "$sum" != "$3" ] && hash_is_sure "$1"; then
        echo "$1: the pixels differ"
    elif [ "$sum" != - ] && [ "$4" != - ] && [ "$form" != "$4x3 uint8" ]; then
        echo "$1: $form, not $4"
    else
        return 0
    fi
    return 1
}

odd=0 right=0
columns "$data/odd/MANIFEST.tsv" file expect want_rgb_sha256 want_exif_sha256 exif_size >"$work/odd"
while IFS=$tab read -r name expect want want_exif size; do
    odd=$((odd + 1))
    decode "$data/odd/$name"
    is_right "$name" "$expect" "$want" - || continue
    decode exif "$data/odd/$name"
    is_right "$name" "$expect" "$want_exif" "$size" && right=$((right + 1))
done <"$work/odd"
tell "odd images: $right of $odd"

photos=0 same=0
columns "$data/imagefolder/MANIFEST.tsv" file rgb_sha256 rgb_exif_sha256 exif_size >"$work/photos"
while IFS=$tab read -r name want want_exif size; do
    photos=$((photos + 1))
    decode "$data/imagefolder/$name"
    is_right "$name" "$outcome" "$want" - || continue
    decode exif "$data/imagefolder/$name"
    is_right "$name" "$outcome" "$want_exif" "$size" && same=$((same + 1))
done <"$work/photos"
tell "photographs: $same of $photos"

[ "$odd" -gt 0 ] && [ "$photos" -gt 0 ] && [ "$right" = "$odd" ] && [ "$same" = "$photos" ]
