#!/usr/bin/env bash
# Fifos, links, directories, strange names and huge files have the outcome that the test data's SPECIAL.tsv gives them, one by one;
# nothing hangs, and the pixels are those of the file that they are copies of. (Folders as a whole: tests/pipeline/test_source.c.)
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

[ -f "$data/odd/make_special.sh" ] || skip "no test data in $data (MSCACHE_TEST_DATA)"
tree=$dir/special
bash "$data/odd/make_special.sh" "$tree"
cd "$tree" || exit 99

at=$(head -n 1 "$data/odd/MANIFEST.tsv" | tr '\t' '\n' | grep -nx want_rgb_sha256 | cut -d: -f1)
want=$(awk -F '\t' -v at="$at" '$1 == "jpg_restart_rows.jpg" { print $at }' "$data/odd/MANIFEST.tsv")
check 'the manifest has a hash of the file that is copied' test -n "$want"

# outcome FILE, and its pixels into $dir/raw
outcome() { timeout 60 "$mscache" probe --json --raw "$dir/raw" -- "$1" | sed -n 's/.*"outcome": "\(.*\)".*/\1/p'; }
is() { # file, outcome
    same "${1@Q}" "$2" "$(outcome "$1")"
    [ "$2" != ok ] || same "${1@Q}: its pixels" "$want" "$(sha256sum <"$dir/raw" | cut -d' ' -f1)"
}

for name in good.jpg link_ok.jpg link_dir/good.jpg link_parent/class_b/good.jpg nested/deeper/deep.jpg $'caf\351_latin1.jpg' $'caf\303\251_nfc.jpg' \
    $'cafe\314\201_nfd.jpg' $'new\nline.jpg' " space and 'quote\".jpg" UPPER.JPEG -dash.jpg .hidden.jpg noextension backup.jpg~ part.jpg.tmp \
    "$(printf 'n%.0s' {1..251}).jpg"; do
    is "class_a/$name" ok
done
cd class_a || exit 99
is -dash.jpg ok
cd .. || exit 99
is class_b/hardlink.jpg ok
is class_link/good.jpg ok
is .hidden_class/good.jpg ok
is loose_in_root.jpg ok
is class_a/link_dangling.jpg error:not-found
is class_a/link_loop.jpg error:not-found
is class_a/link_outside.jpg error:not-an-image
is class_a/fifo.jpg error:not-a-regular-file
is class_a/dir.jpg error:not-a-regular-file
is class_a/Thumbs.db error:not-an-image
is class_a/.DS_Store error:empty-file
is class_b/sparse_5g.jpg error:too-large
if [ "$(id -u)" = 0 ]; then is class_a/noperm.jpg ok; else is class_a/noperm.jpg error:not-permitted; fi
finish
