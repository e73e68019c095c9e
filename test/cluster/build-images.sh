#!/usr/bin/env bash
# Builds the project's image from its Dockerfile, and the one that holds pods together, as archives for a container runtime.
#
#   build-images.sh FOLDER      writes FOLDER/platen.tar (platen:e2e) and FOLDER/pause.tar
#   NODE_IMAGE=archive.tar      Build on the image in this archive. Default: a stand-in made by test/image/stand-in.sh.
#
# Layers are kept in .cache/cluster, so that only what has changed is built again; and the archives of the last build, which
# serve for as long as nothing has changed that they are made of.
set -euo pipefail
# In a mount namespace of its own, which takes every mount with it however this ends.
if [ -z "${PLATEN_OWN_MOUNTS:-}" ]; then
  PLATEN_OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
folder=$1
project=$(cd "$(dirname "$0")/../.." && pwd)
cache=$project/.cache/cluster
mkdir -p "$cache" "$folder"
# One at a time: the store is one.
exec 9>"$cache/lock"
flock 9

# Whatever goes in: what .dockerignore lets through to the target, and what builds it.
inputs=$(
  cd "$project"
  find .dockerignore Dockerfile package.json package-lock.json .npmrc tsconfig.json scripts/bundle.ts scripts/hyphenation src clients/typescript/*.json clients/typescript/src \
    dashboard/src dashboard/*.* \
    docs scripts/docs-site scripts/clients clients/*/README.md clients/python/pyproject.toml clients/python/src site/package*.json site/astro.config.mjs site/src/*.ts site/src/*.css site/src/*.astro site/src/*.svg \
    fonts/package*.json scripts/fonts \
    test/image/stand-in.sh test/cluster/build-images.sh .cache/go/bin/pause ${NODE_IMAGE:+"$NODE_IMAGE"} \
    -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16
)
kept=$cache/archives/$inputs
hand_out() {
  local archive
  # As links where that can be: the archives may be replaced while somebody still reads them.
  for archive in pause platen; do
    ln "$kept/$archive.tar" "$folder/" 2>/dev/null || cp "$kept/$archive.tar" "$folder/"
  done
}
if [ -d "$kept" ]; then
  hand_out
  exit 0
fi

echo '{"default":[{"type":"insecureAcceptAnything"}]}' >"$cache/policy.json"
: >"$cache/registries.conf"
export CONTAINERS_REGISTRIES_CONF=$cache/registries.conf
store=(--root "$cache/storage" --runroot "$cache/run" --storage-driver overlay)
buildah() { command buildah "${store[@]}" "$@"; }
quietly() {
  "$@" >"$folder/build.log" 2>&1 || { tail -40 "$folder/build.log" >&2; exit 1; }
}
bud() { quietly buildah bud --signature-policy "$cache/policy.json" --isolation chroot --pull-never --layers "$@"; }
push() { quietly buildah push --signature-policy "$cache/policy.json" "$1" "docker-archive:$2:$3"; }
# buildah starts itself anew without any environment: it has to find its libraries where everybody's are.
libraries=$project/.cache/kubernetes/debian/root/usr/lib/x86_64-linux-gnu
if [ -d "$libraries" ]; then
  mount -t overlay -o "lowerdir=/usr/lib/x86_64-linux-gnu:$libraries" none /usr/lib/x86_64-linux-gnu
fi

mkdir "$folder/pause"
cp "$project/.cache/go/bin/pause" "$folder/pause/"
printf 'FROM scratch\nCOPY pause /pause\nUSER 65535:65535\nENTRYPOINT ["/pause"]\n' >"$folder/pause/Dockerfile"
bud --tag localhost/pause:local "$folder/pause"
push localhost/pause:local "$folder/pause.tar" registry.invalid/pause:local

node_image=localhost/platen-node:24
if [ -n "${NODE_IMAGE:-}" ]; then
  quietly buildah pull --signature-policy "$cache/policy.json" "docker-archive:$NODE_IMAGE"
  node_image=$(tail -1 "$folder/build.log")
elif ! buildah inspect --type image "$node_image" >/dev/null 2>&1; then
  echo 'Making a stand-in for the Node image …'
  mkdir "$folder/node"
  "$project/test/image/stand-in.sh" "$folder/node/root"
  tar -C "$folder/node/root" -cf "$folder/node/root.tar" .
  rm -rf "$folder/node/root"
  printf 'FROM scratch\nADD root.tar /\nCMD ["node"]\n' >"$folder/node/Dockerfile"
  bud --tag "$node_image" "$folder/node"
  rm -rf "$folder/node"
fi

echo 'Building the image from the Dockerfile …'
image=(--target platen --build-arg "NODE_IMAGE=$node_image" --tag localhost/platen:e2e "$project")
# Debian's archive keeps the newest version of a browser alone, and what is tested here is Platen.
if ! (bud "${image[@]}") 2>"$folder/build.error"; then
  grep -q "for 'chromium-headless-shell' was not found" "$folder/build.error" || { cat "$folder/build.error" >&2; exit 1; }
  echo "Debian has the CHROMIUM_VERSION of the Dockerfile no more: building with its newest one."
  bud --build-arg CHROMIUM_VERSION= "${image[@]}"
fi
push localhost/platen:e2e "$folder/platen.tar" docker.io/library/platen:e2e

rm -rf "$cache/archives"
mkdir -p "$cache/archives/.new"
mv "$folder/pause.tar" "$folder/platen.tar" "$cache/archives/.new/"
mv "$cache/archives/.new" "$kept"
hand_out
