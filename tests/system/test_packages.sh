#!/usr/bin/env bash
# Packages are named in one table: configure.ac and the README agree with it.
set -u
src=${MSCACHE_SRC:-$(dirname "$0")/../..}
table=$src/build-aux/packages.tsv
status=0

same() { # what, expected, got
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        echo "not ok $1"
        diff <(echo "$2") <(echo "$3") | sed 's/^/    /'
        status=1
    fi
}

rows() { awk -F '\t' "$1" "$table" | sort; }

same "configure.ac asks for the libraries of the table" \
    "$(rows '$1 == "library" { print $3, $4, $2 }')" \
    "$(sed -n 's/^MSCACHE_LIB(\[[a-z]*\], \[\(.*\) >= \(.*\)\], \[\(.*\)\])$/\1 \2 \3/p' "$src/configure.ac" | sort)"

same "README lists the packages of the table" \
    "$(rows '$1 ~ /^(build|library|test)$/ { print $2 }')" \
    "$(sed -n '/^| package/,/^$/s/^| `\([a-z0-9.+-]*\)`.*/\1/p' "$src/README.md" | sort)"

same "every use in the table is one that quickstart installs" \
    "build library test" \
    "$(rows '/^[^#]/ { print $1 }' | uniq | paste -sd ' ')"

same "the table's modules are on this machine at the versions that configure wants" \
    "" \
    "$(awk -F '\t' '$1 == "library" { print $3, $4 }' "$table" | while read -r module version; do
        pkg-config --atleast-version="$version" "$module" || echo "$module"
    done)"
exit $status
