#!/bin/bash
# Builds the project's image and runs every role of it in containers, against a real database and Kafka on this machine.
#
#   test/image/run.sh [CONTEXT]      CONTEXT is the folder to build from; default: the project.
#   NODE_IMAGE=name                  Build on this image. Default: a stand-in made by stand-in.sh, without a registry.
#
# Needs root, Debian's podman, buildah, runc and debootstrap, and what `make peers` needs. What is slow to make stays in
# .cache/image; remove that folder for a build from nothing.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
context=$(cd "${1:-$project}" && pwd)
cache=$project/.cache/image

missing=()
[ "$(id -u)" = 0 ] || missing+=('to be root')
for command in podman buildah runc debootstrap java npm; do
  command -v "$command" >/dev/null || missing+=("the command $command")
done
[ -x "$project/node_modules/.bin/node" ] || missing+=('the packages of the project (make setup)')
if [ ${#missing[@]} -gt 0 ]; then
  printf 'image-test needs %s\n' "${missing[@]}" >&2
  exit 1
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/platen-image-XXXXXX")
mkdir -p "$cache"
exec 9>"$cache/lock"
flock --nonblock 9 || { echo 'image-test is running already' >&2; exit 1; }
rm -rf "$cache/run"
# An image store of our own. Limits are given, for podman would raise them, which not every root may.
export CONTAINERS_STORAGE_CONF=$work/storage.conf CONTAINERS_CONF=$work/containers.conf
cat >"$CONTAINERS_STORAGE_CONF" <<END
[storage]
driver = "overlay"
graphroot = "$cache/storage"
runroot = "$cache/run"
END
cat >"$CONTAINERS_CONF" <<END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
events_logger = "none"
lock_type = "file"
tmp_dir = "$cache/run/libpod"
END
clean_up() {
  podman rm --all --force --volumes >/dev/null 2>&1 || true
  podman image prune --force >/dev/null 2>&1 || true
  umount "$cache/storage/overlay" 2>/dev/null || true
  rm -rf "$work" "$cache/run"
}
trap clean_up EXIT

if [ -z "${NODE_IMAGE:-}" ]; then
  NODE_IMAGE=localhost/platen-node
  if ! podman image exists "$NODE_IMAGE"; then
    echo 'Making a stand-in for the Node image (about a minute) …'
    "$project/test/image/stand-in.sh" "$work/base"
    tar -C "$work/base" -c . | podman import --quiet - "$NODE_IMAGE" >/dev/null
  fi
fi

echo 'Building the image (about three minutes the first time) …'
podman build --isolation chroot --pull=never --layers --build-arg "NODE_IMAGE=$NODE_IMAGE" \
  --tag localhost/platen "$context" >"$work/build.log" 2>&1 || { tail -40 "$work/build.log" >&2; exit 1; }
size() { podman image inspect --format '{{.Size}}' "$1" | numfmt --to=si --round=nearest --format=%.2f; }
echo "Size: $(size localhost/platen)B, of which the Node image has $(size "$NODE_IMAGE")B"

cd "$project"
PLATEN_IMAGE=localhost/platen PLATEN_IMAGE_WORK=$work PATH="$project/node_modules/.bin:$PATH" \
  node node_modules/mocha/bin/mocha.js --exit --reporter test/support/reporter.cjs 'test/image/*.test.ts'
