#!/bin/bash
# Makes what stands in for the Node image of the Dockerfile where no container registry can be reached: a minimal Debian
# from this machine's own package mirror, the project's Node, npm, and the user node (1000).
#
#   stand-in.sh FOLDER     FOLDER must not exist; it becomes the root file system.
set -euo pipefail
root=$1
project=$(cd "$(dirname "$0")/../.." && pwd)
# That of the Node image, whatever this machine itself runs.
codename=$(sed -n 's/^ARG NODE_IMAGE=.*-\([a-z]*\)-slim.*/\1/p' "$project/Dockerfile")
own=$(. /etc/os-release && echo "$VERSION_CODENAME")

# One line for each of Debian's own sources that this machine has, for that codename: a security fix is often the newest
# Chromium.
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sed -n "s/ $own\(-[a-z]*\)\{0,1\} / $codename\1 /p" | sort -u || true)
mirror=$(awk -v codename="$codename" '$3 == codename { print $2; exit }' <<<"$sources")
[ -n "$mirror" ] || { echo "stand-in: this machine's apt knows no mirror of Debian" >&2; exit 1; }

debootstrap --variant=minbase "$codename" "$root" "$mirror" >"$root.log" 2>&1 || { tail -20 "$root.log" >&2; exit 1; }
rm "$root.log"
echo "$sources" >"$root/etc/apt/sources.list"
chroot "$root" useradd --uid 1000 --user-group --create-home --shell /bin/bash node
install -m 755 "$project/node_modules/node/bin/node" "$root/usr/local/bin/node"
# Whom this machine trusts, the build must trust as well.
mkdir -p "$root/usr/local/etc"
cp /etc/ssl/certs/ca-certificates.crt "$root/usr/local/etc/machine-ca.crt"
# With another prefix npm reads no setting of this machine, so it is told whom to trust.
NODE_EXTRA_CA_CERTS="$root/usr/local/etc/machine-ca.crt" \
  npm install --global --prefix "$root/usr/local" --no-audit --no-fund --loglevel=error npm@11
echo 'cafile=/usr/local/etc/machine-ca.crt' >"$root/usr/local/etc/npmrc"
# As in that image: what apt has installed it does not keep.
echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };' \
  >"$root/etc/apt/apt.conf.d/docker-clean"
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/cache/apt/archives/*.deb
