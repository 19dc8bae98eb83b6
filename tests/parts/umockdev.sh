#!/usr/bin/env bash
# The devices that exist only for the tests of discovery: Debian's umockdev. Quick where it is there already.
set -eu
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin  # after a plain su they are not in it

say() { echo "umockdev: $*" >&2; }

command -v umockdev-run >/dev/null && exit 0
if [ "$(id -u)" != 0 ]; then
    say "installing it needs root (apt-get install umockdev), so the tests of discovery are skipped"
    exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt-get -q=2 install --no-install-recommends umockdev >"$log" 2>&1 ||
    { apt-get -q=2 update && apt-get -q=2 install --no-install-recommends umockdev; } >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; say "it could not be installed, so the tests of discovery are skipped"; exit 0; }
