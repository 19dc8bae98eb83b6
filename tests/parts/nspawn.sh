#!/usr/bin/env bash
# The container of tests/service: what this machine needs for it, and the project as `make install` puts it onto a
# machine, in a folder that is laid over this machine's own root. Quick where both are there already.
#
#   tests/parts/nspawn.sh            install what is missing, and the checkout as it stands
#   tests/parts/nspawn.sh --where    print the folder, there or not
set -eu
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin  # after a plain su they are not in it
cd "$(dirname "$0")/../.."

TREE=$PWD/.cache/nspawn/$(cat requirements.lock udev/install.sh | sha256sum | cut -c 1-16)
NEEDED=(systemd systemd-container udev python3 libpython3-stdlib)

say() { echo "nspawn: $*" >&2; }

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null | sort | uniq -c)" = "$(printf '%7d installed' $#)" ]; }

install_needed() {
    local log
    log=$(mktemp)
    apt-get -q=2 install --no-install-recommends "${NEEDED[@]}" >"$log" 2>&1 ||
        { apt-get -q=2 update && apt-get -q=2 install --no-install-recommends "${NEEDED[@]}"; } >"$log" 2>&1 ||
        { tail -n 20 "$log" >&2; rm -f "$log"; say "the packages ${NEEDED[*]} could not be installed, so its tests are skipped"; exit 0; }
    rm -f "$log"
}

case ${1:-} in
    --where) echo "$TREE"; exit ;;
    "") ;;
    *) say "the only option is --where"; exit 2 ;;
esac

if [ "$(id -u)" != 0 ]; then
    say "a container needs root, so its tests are skipped"
    exit 0
fi
installed "${NEEDED[@]}" || install_needed
mkdir -p "${TREE%/*}"
exec 9>"${TREE%/*}/lock"
flock 9
find "${TREE%/*}" -mindepth 1 -maxdepth 1 -type d ! -path "$TREE" -exec rm -rf {} +
make -s install DESTDIR="$TREE" 2>&1 | grep -v "^WARNING: Location" >&2 || [ "${PIPESTATUS[0]}" = 0 ]
