#!/usr/bin/env bash
# Fetches a browser of Debian for the tests: unpacked beside what they bring themselves, without installing anything.
# Prints the path of its script; nothing where there is no Debian to fetch it from.
#
#   install-debian-browser.sh [PACKAGE]     chromium-headless-shell, the browser of the image (default), or chromium
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/unpack-debian.sh

package=${1:-chromium-headless-shell}
installed=$(command -v "$package" || true)
if [ -n "$installed" ]; then
  echo "$installed"
  exit 0
fi
if ! has_debian; then
  echo "No apt-get here: the tests run without Debian's $package." >&2
  exit 0
fi

# One at a time: whoever comes second finds what the first has fetched.
mkdir -p .cache
exec 9>.cache/debian-browser.lock
flock 9
folder=$PWD/.cache/debian-browser
[ "$package" = chromium-headless-shell ] || folder=$folder-$package
script=$folder/$package
if [ ! -x "$script" ]; then
  echo "Fetching the $package of Debian …" >&2
  rm -rf "$folder"
  unpack_debian "$folder" --download-only --no-install-recommends --yes install "$package"
  # As Debian's own: a script that does not become the browser but starts it as its child. Its folder may be moved.
  cat > "$script.new" <<'END'
#!/bin/sh -e
usr=$(dirname "$(readlink -f "$0")")/root/usr
export LD_LIBRARY_PATH="$usr/lib/x86_64-linux-gnu:$usr/lib/x86_64-linux-gnu/pulseaudio"
"$usr/lib/chromium/$(basename "$0")" "$@"
END
  chmod +x "$script.new"
  mv "$script.new" "$script"
fi
# Debian's shell looks for hyphenation dictionaries beside itself. They may be compiled later.
ln -sfnT "$PWD/dist/hyphen-data" "$folder/root/usr/lib/chromium/hyphen-data"
echo "$script"
