#!/usr/bin/env bash
# Prints the path of `php`, for the test of the documentation's PHP snippet: the one on PATH, or else Debian's, unpacked into
# .cache without installing anything. Prints nothing where there is no Debian to fetch it from.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/unpack-debian.sh

installed=$(command -v php || true)
if [ -n "$installed" ]; then
  echo "$installed"
  exit 0
fi
if ! has_debian; then
  echo 'No apt-get here: the PHP snippet of the documentation is not run.' >&2
  exit 0
fi

folder=$PWD/.cache/php
script=$folder/php
if [ ! -x "$script" ]; then
  echo 'Fetching the PHP of Debian …' >&2
  rm -rf "$folder"
  unpack_debian "$folder" --download-only --no-install-recommends --yes install php-cli
  # Debian's settings name the folders of an installed PHP, so none are read; ctype is a module there.
  cat > "$script.new" <<'END'
#!/bin/sh -e
root=$(dirname "$(readlink -f "$0")")/root
export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu"
exec "$root"/usr/bin/php[0-9]* -n -d "extension=$(echo "$root"/usr/lib/php/*/ctype.so)" "$@"
END
  chmod +x "$script.new"
  mv "$script.new" "$script"
fi
echo "$script"
