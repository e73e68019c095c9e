#!/usr/bin/env bash
# Fetches a browser of Debian for the tests: unpacked beside what they bring themselves, without installing anything.
# Prints the path of its script; nothing where there is no Debian to fetch it from.
#
# It is the version of Chromium that the Dockerfile names, built for this machine's own Debian: a build for another one needs
# another libc than this machine runs. Where that Debian has the version no more, it is the newest, and a line says so.
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

# Of Chromium itself, without what names the Debian that it was built for: 156.0.8078.108-1
wanted=$(sed -n 's/^ARG CHROMIUM_VERSION=\([^~]*\).*/\1/p' Dockerfile)

# One at a time: whoever comes second finds what the first has fetched.
mkdir -p .cache
exec 9>.cache/debian-browser.lock
flock 9
# Beside those of other versions, which tests of another worktree may be running.
folder=$PWD/.cache/debian-browsers/$package-$wanted
script=$folder/$package
if [ ! -x "$script" ]; then
  echo "Fetching the $package $wanted of Debian …" >&2
  building=$folder.$$
  trap 'rm -rf "$building"' EXIT
  mkdir -p "${folder%/*}"
  fetch() { unpack_debian "$building" --download-only --no-install-recommends --yes install "$1"; }
  fetch "$package=$wanted*" || true
  if [ ! -e "$building/root/usr/lib/chromium/$package" ]; then
    echo "This Debian has no $package $wanted, which the image has: the tests run with its newest." >&2
    rm -rf "$building"
    fetch "$package"
  fi
  # As Debian's own: a script that does not become the browser but starts it as its child. Its folder may be moved.
  cat > "$building/$package" <<'END'
#!/bin/sh -e
usr=$(dirname "$(readlink -f "$0")")/root/usr
export LD_LIBRARY_PATH="$usr/lib/x86_64-linux-gnu:$usr/lib/x86_64-linux-gnu/pulseaudio"
"$usr/lib/chromium/$(basename "$0")" "$@"
END
  chmod +x "$building/$package"
  mv "$building" "$folder"
fi
# Debian's shell looks for hyphenation dictionaries beside itself. They may be compiled later.
ln -sfnT "$PWD/dist/hyphen-data" "$folder/root/usr/lib/chromium/hyphen-data"
echo "$script"
