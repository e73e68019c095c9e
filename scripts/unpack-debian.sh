# For scripts that bring programs of Debian without installing anything (`. scripts/unpack-debian.sh`): with lists and archives
# of their own, so that nobody has to be root and nothing of the machine changes.

# Whether this machine can fetch and unpack packages.
has_debian() { command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; }

# Unpacks packages into FOLDER/root.
#
#   unpack_debian FOLDER download PACKAGE...                                            these alone
#   unpack_debian FOLDER --download-only --no-install-recommends --yes install PACKAGE  it and what it needs that is not here
unpack_debian() {
  local folder=$1 package
  shift
  mkdir -p "$folder/lists/partial" "$folder/archives/partial" "$folder/root"
  local options=(-o "Dir::State::lists=$folder/lists" -o "Dir::Cache=$folder" -o "Dir::Cache::archives=$folder/archives"
    -o Debug::NoLocking=true -o APT::Sandbox::User=root -qq)
  apt-get "${options[@]}" update >&2
  (cd "$folder/archives" && apt-get "${options[@]}" "$@" >&2)
  for package in "$folder"/archives/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
  rm -rf "$folder/lists" "$folder/archives" "$folder"/*.bin
}
