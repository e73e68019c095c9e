#!/usr/bin/env bash
# Fetches Debian's chromium-headless-shell, the browser of the image, for the tests: unpacked beside what they bring
# themselves, without installing anything. Prints the path of its script; nothing where there is no Debian to fetch it from.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/unpack-debian.sh

installed=$(command -v chromium-headless-shell || true)
if [ -n "$installed" ]; then
  echo "$installed"
  exit 0
fi
if ! has_debian; then
  echo 'No apt-get here: the Chromium tests run with the bundled browser alone.' >&2
  exit 0
fi

# One at a time: whoever comes second finds what the first has fetched.
mkdir -p .cache
exec 9>.cache/debian-browser.lock
flock 9
folder=$PWD/.cache/debian-browser
script=$folder/chromium-headless-shell
if [ ! -x "$script" ]; then
  echo 'Fetching the chromium-headless-shell of Debian …' >&2
  rm -rf "$folder"
  unpack_debian "$folder" --download-only --no-install-recommends --yes install chromium-headless-shell
  # As Debian's own: a script that does not become the browser but starts it as its child. Its folder may be moved.
  cat > "$script.new" <<'END'
#!/bin/sh -e
usr=$(dirname "$(readlink -f "$0")")/root/usr
export LD_LIBRARY_PATH="$usr/lib/x86_64-linux-gnu:$usr/lib/x86_64-linux-gnu/pulseaudio"
"$usr/lib/chromium/chromium-headless-shell" "$@"
END
  chmod +x "$script.new"
  mv "$script.new" "$script"
fi
echo "$script"
