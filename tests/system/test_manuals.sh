#!/usr/bin/env bash
# Every command, option, operator, setting, error outcome and public function is in its manual page, and the pages are well formed.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

man=$src/man
# A page as plain text, as a reader sees it.
page() { MANWIDTH=200 groff -man -Tutf8 -rLL=200n -P-c -P-b -P-o -P-u "$man/$1" | sed 's/‐/-/g; s/−/-/g'; }
command -v groff >/dev/null || skip "groff is not installed"
has() { # page, what, word
    grep -qF -- "$3" <<<"${text[$1]}" && found=$((found + 1)) || not_ok "$1 has the $2 $3"
}
declare -A text
for p in mscache.1 mscache.3 mscache-pipeline.7 mscached.8; do
    same "$p: groff has nothing to warn of" "" "$(groff -z -ww -man -Tutf8 "$man/$p" 2>&1)"
    if command -v man >/dev/null; then
        same "$p: man has nothing to warn of" "" "$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$man/$p" 2>&1 >/dev/null)"
    fi
    text[$p]=$(page "$p")
done

commands=$("$mscache" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
check 'the help lists commands' test "$(wc -l <<<"$commands")" -ge 11
found=0
for c in $commands; do
    grep -qE "^ {7}$c( |$)" <<<"${text[mscache.1]}" && found=$((found + 1)) || not_ok "mscache.1 has the command $c"
    for option in $("$mscache" "$c" --help | sed -n 's/^  \(--[a-z-]*\) .*/\1/p'); do has mscache.1 option "$option"; done
done
while read -r code meaning; do has mscache.1 "exit code $code" "$meaning"; done < <("$mscache" --help | sed -n '/^Exit codes:/,/^$/s/^  \([0-9]\)  \(.*\)/\1 \2/p')
ok "commands, options and exit codes in mscache.1 ($found)"

found=0
while read -r signature; do has mscache-pipeline.7 operator "$signature"; done < <("$mscache" ops --json | sed -n 's/.*"signature": "\(.*\)".*/\1/p')
check "operators in mscache-pipeline.7 ($found)" test $found -ge 8

found=0
for setting in $("$MSCACHE_DAEMON" --help | sed -n 's/^  --\([a-z_-]*\).*/\1/p'); do
    case $setting in config | foreground | once | check-config | help | version) setting=--$setting ;; *) setting=${setting//-/_} ;; esac
    grep -qE "^ {7}$setting( |$)" <<<"${text[mscached.8]}" && found=$((found + 1)) || not_ok "mscached.8 has $setting"
done
check "options and settings in mscached.8 ($found)" test $found -ge 10

found=0
for f in $(nm -D --defined-only "$build/.libs/libmscache.so" | awk '$2 == "T" { print $3 }'); do has mscache.3 function "$f"; done
check "functions in mscache.3 ($found)" test $found -ge 20
found=0
for field in $(sed -n '/^typedef struct mscache_[a-z_]* {/,/^}/p' "$build/client/mscache.h" | sed 's,/\*.*,,; s/\[[0-9]\]//g' |
    grep -oE '\(?\*?[a-z_0-9]+\)?(\(|,|;)' | tr -d '(*),;' | grep -vE '^(void|bytes|arg|memory)$'); do has mscache.3 field "$field"; done
check "fields of the structures in mscache.3 ($found)" test $found -ge 50
finish
