#!/usr/bin/env bash
# Brings up a whole Kubernetes on this machine, installs Platen in it as its chart and its image are, and runs
# test/cluster/*.test.ts. The last line is "N passed, N failed"; where it cannot run it says why, and counts nothing.
#
# The cluster lives in network, mount and process namespaces of its own: they take every process, mount, address and rule
# with them, however the run ends. What is slow to make stays in .cache. More in docs/development-cluster.md.
#
#   test/cluster/run.sh [mocha arguments]
#   PLATEN_E2E_IMAGES=folder        Take the images that build-images.sh has put there.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
cd "$project"
cgroup=platen-e2e-$$

lacking() {
  [ "$(uname -s)" = Linux ] || echo 'Linux'
  [ "$(id -u)" = 0 ] || { echo 'root'; return; }
  for command in apt-get dpkg-deb go java npm unshare setpriv ip sysctl; do
    command -v "$command" >/dev/null || echo "the command $command"
  done
  grep -q 'Origin: Debian$' <<<"$(apt-get indextargets 2>/dev/null)" || echo "Debian among this machine's package sources"
  unshare --mount --net --pid --fork true 2>/dev/null || echo 'namespaces of its own (unshare is refused here)'
  local one=/sys/fs/cgroup
  [ -e "$one/cgroup.controllers" ] || one=/sys/fs/cgroup/pids
  { mkdir "$one/$cgroup" && rmdir "$one/$cgroup"; } 2>/dev/null || echo 'a cgroup of its own (/sys/fs/cgroup is not writable)'
  local trial=$project/.cache/overlay-trial
  mkdir -p "$trial"/{lower,upper,work,merged}
  unshare --mount mount -t overlay -o "lowerdir=$trial/lower,upperdir=$trial/upper,workdir=$trial/work" none \
    "$trial/merged" 2>/dev/null || echo 'a file system that overlay can lie upon'
  rm -rf "$trial"
}
missing=$(lacking)
if [ -n "$missing" ]; then
  echo 'The cluster tests cannot run here, and are not counted. They need:'
  echo "$missing" | sed 's/^/  - /'
  echo '0 passed, 0 failed'
  exit 0
fi

began=$SECONDS
stage() { printf '%5d s  %s\n' $((SECONDS - began)) "$1"; }
flock .cache/go.lock node_modules/.bin/node scripts/install-go-programs.mjs cluster helm
debian=$(scripts/kubernetes/install-debian.sh)
stage 'programs of the cluster'
export PATH=$debian/bin:$project/.cache/go/bin:$project/node_modules/.bin:$PATH
# Short, for the paths of sockets have a limit.
work=$(mktemp -d "${TMPDIR:-/tmp}/platen-e2e-XXXXXX")

# The kubelet sets what it finds best for a node; this machine is somebody's.
settings=$(cd /proc/sys && grep -H . vm/overcommit_memory kernel/panic kernel/panic_on_oops kernel/keys/root_max* 2>/dev/null || true)
hierarchies() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; else ls -d /sys/fs/cgroup/*/; fi
}
clean_up() {
  for hierarchy in $(hierarchies); do
    [ ! -d "$hierarchy/$cgroup" ] || find "$hierarchy/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || true
  done
  while IFS=: read -r name value; do [ -z "$name" ] || echo "$value" >"/proc/sys/$name"; done <<<"$settings"
  rm -rf "$work"
}
trap clean_up EXIT

if [ -n "${PLATEN_E2E_IMAGES:-}" ]; then
  ln -s "$PLATEN_E2E_IMAGES" "$work/images"
else
  test/cluster/build-images.sh "$work/images"
fi
stage 'images'

for hierarchy in $(hierarchies); do
  mkdir -p "$hierarchy/$cgroup/node-a" "$hierarchy/$cgroup/node-b"
  if [ -e "$hierarchy/cgroup.controllers" ]; then
    for level in "$hierarchy" "$hierarchy/$cgroup"; do
      sed 's/\b\(\w\)/+\1/g' "$level/cgroup.controllers" >"$level/cgroup.subtree_control" || true
    done
  fi
done
# Processes beside it compete one by one, and the cluster as one: its share is that of this many processes. What steers it
# shares that with its nodes.
PROCESSES=12
join_cgroup() {
  for hierarchy in $(hierarchies); do
    if [ -e "$hierarchy/$cgroup/cpu.shares" ]; then
      echo $((PROCESSES * 1024)) >"$hierarchy/$cgroup/cpu.shares"
    elif [ -e "$hierarchy/$cgroup/cpu.weight" ]; then
      echo $((PROCESSES * 100)) >"$hierarchy/$cgroup/cpu.weight"
    else
      continue
    fi
    mkdir -p "$hierarchy/$cgroup/plane"
    echo "$BASHPID" >"$hierarchy/$cgroup/plane/cgroup.procs"
  done
}

status=0
(
  join_cgroup
  export TMPDIR=$work PLATEN_CLUSTER_IMAGES=$work/images PLATEN_CLUSTER_CGROUP=/$cgroup
  export PLATEN_CLUSTER_CNI=$debian/root/usr/lib/cni
  exec unshare --mount --net --pid --fork --kill-child --mount-proc bash -c '
    mount --make-rshared /
    # Where shims and kubelets leave sockets and links that are nobody else'"'"'s.
    mount -t tmpfs none /run
    mount -t tmpfs none /var/log
    node node_modules/mocha/bin/mocha.js --exit --reporter test/support/reporter.cjs "$@"
    exit $?' bash 'test/cluster/*.test.ts' "$@"
) || status=$?
stage 'tests'
exit $status
