#!/usr/bin/env bash
# Prints a folder with programs of Debian that build and run generated clients, with the libraries that these clients want:
# php with Guzzle, ruby with Typhoeus, mcs and mono with Newtonsoft.Json. They are unpacked into .cache without installing
# anything. Prints nothing where there is no Debian to fetch them from.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/unpack-debian.sh

if ! has_debian; then
  echo 'No apt-get here: the generated clients in PHP, Ruby and C# are not run.' >&2
  exit 0
fi

folder=$PWD/.cache/generated-clients-languages
# One at a time: whoever comes second finds what the first has fetched.
exec 9>"$folder.lock"
flock 9
if [ ! -d "$folder" ]; then
  echo 'Fetching PHP, Ruby and Mono of Debian …' >&2
  building=$folder.$$
  trap 'rm -rf "$building"' EXIT
  unpack_debian "$building" --download-only --no-install-recommends --yes install \
    php-cli php-mbstring php-guzzlehttp-guzzle ruby ruby-typhoeus \
    mono-mcs libmono-system-{net-http,runtime-serialization,componentmodel-dataannotations,web}4.0-cil libnewtonsoft-json5.0-cil
  # A script that runs a program of what was unpacked.
  program() {
    cat >"$building/$1" <<END_OF_PROGRAM
#!/bin/sh -e
root=\$(dirname "\$(readlink -f "\$0")")/root
export LD_LIBRARY_PATH="\$root/usr/lib:\$root/usr/lib/x86_64-linux-gnu:\$root/lib/x86_64-linux-gnu"
$2 "\$@"
END_OF_PROGRAM
    chmod +x "$building/$1"
  }
  # Debian's settings name the folders of an installed PHP, so none are read.
  program php 'modules=$(echo "$root"/usr/lib/php/[0-9]*[0-9][0-9])
exec "$root"/usr/bin/php[0-9]* -n -d "extension=$modules/ctype.so" -d "extension=$modules/mbstring.so" \
  -d "extension=$modules/tokenizer.so" -d "include_path=$root/usr/share/php"'
  program ruby 'gems=$root/usr/lib/x86_64-linux-gnu/rubygems-integration
export RUBYLIB=$(printf "%s:" "$root"/usr/share/rubygems-integration/all/gems/*/lib "$gems"/*/gems/*/lib \
  "$gems"/*/extensions/*/*/* "$root"/usr/lib/ruby/vendor_ruby "$root"/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/* \
  "$root"/usr/lib/ruby/[0-9]* "$root"/usr/lib/x86_64-linux-gnu/ruby/[0-9]*)
exec "$root"/usr/bin/ruby[0-9]*'
  of_mono='export MONO_PATH="$root/usr/lib/mono/4.5:$root/usr/lib/cli/Newtonsoft.Json-5.0" MONO_CFG_DIR="$root/etc"
exec "$root/usr/bin/mono"'
  program mono "$of_mono"
  program mcs "$of_mono"' "$root/usr/lib/mono/4.5/mcs.exe" "-lib:$root/usr/lib/mono/4.5,$root/usr/lib/cli/Newtonsoft.Json-5.0"'
  mv "$building" "$folder"
fi
echo "$folder"
