#!/usr/bin/env bash
# Fetches from Debian what a Kubernetes node needs besides Kubernetes itself, unpacked into .cache/kubernetes/debian without
# installing anything: containerd, runc, CNI plugins, iptables, conntrack, buildah, debootstrap. Prints the folder; its
# `bin` belongs on PATH, in front.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/unpack-debian.sh

packages=(containerd runc containernetworking-plugins iptables conntrack buildah debootstrap)
programs=(usr/bin/containerd usr/bin/containerd-shim-runc-v2 usr/bin/ctr usr/sbin/runc usr/sbin/conntrack usr/bin/buildah)
folder=$PWD/.cache/kubernetes/debian
# The folder too: what is in it names it, and is of no use in another.
stamp="$folder ${packages[*]} $(cat "$0" scripts/unpack-debian.sh | sha256sum)"
if [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
  echo "$folder"
  exit 0
fi

has_debian || { echo 'There is no apt-get and dpkg-deb here: Debian is needed.' >&2; exit 1; }
echo 'Fetching containerd, runc, CNI plugins, iptables and buildah of Debian …' >&2
building=$folder.$$
trap 'rm -rf "$building"' EXIT
rm -rf "$building"
mkdir -p "$building/bin"
# Fetched even where it is installed, so that what runs is the same everywhere.
unpack_debian "$building" download "${packages[@]}" \
  libgpgme11 libassuan0 libgpg-error0 libsubid4 libdevmapper1.02.1 libseccomp2 \
  libip4tc2 libip6tc2 libxtables12 libnftnl11 libmnl0 libnetfilter-conntrack3 libnfnetlink0

# Each as a script that tells the program where its libraries are.
script() { # name, program, further settings
  printf '#!/bin/sh\n%s\nexport LD_LIBRARY_PATH=%q\nexec %q "$@"\n' "${3:-}" \
    "$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/lib/x86_64-linux-gnu" "$folder/root/$2" >"$building/bin/$1"
  chmod +x "$building/bin/$1"
}
for program in "${programs[@]}"; do script "${program##*/}" "$program"; done
plugins="export XTABLES_LIBDIR='$folder/root/usr/lib/x86_64-linux-gnu/xtables'"
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
  script "$name" "usr/sbin/${name/tables/tables-nft}" "$plugins"
done
script debootstrap usr/sbin/debootstrap "export DEBOOTSTRAP_DIR='$folder/root/usr/share/debootstrap'"
echo "$stamp" >"$building/stamp"
rm -rf "$folder"
mv "$building" "$folder"
echo "$folder"
