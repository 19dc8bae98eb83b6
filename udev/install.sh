#!/usr/bin/env bash
# Called by `make install` and `make uninstall`, with PYTHON, PREFIX, LIBDIR, DESTDIR and PIP (a command that can
# install into another environment) in the environment. See README.md beside this file.
set -eu
umask 022  # the service, which is not root, runs what lies here
cd "$(dirname "$0")/.."

HOME_OF_CODE=$DESTDIR$PREFIX
HOME_OF_FILES=$DESTDIR$LIBDIR
FILES=(
    "udev/70-firmware-bridge.rules $HOME_OF_FILES/udev/rules.d/70-firmware-bridge.rules"
    "udev/firmware-bridge.service $HOME_OF_FILES/systemd/system/firmware-bridge.service"
    "udev/firmware-bridge.sysusers $HOME_OF_FILES/sysusers.d/firmware-bridge.conf"
    "udev/firmware-bridge.tmpfiles $HOME_OF_FILES/tmpfiles.d/firmware-bridge.conf"
    "udev/table.toml $HOME_OF_CODE/share/table.toml"
)

say() { echo "$1" >&2; exit 1; }

# Where the program goes is taken away whole, so nothing else may be in there: PREFIX=/usr/local would take it all.
check_places() {
    case $PREFIX$LIBDIR$DESTDIR in
        *[[:space:]\"\'\\\|\&%\$\`*?[]*) say "PREFIX=, LIBDIR= and DESTDIR= are paths without spaces, quotes and the like." ;;
    esac
    case $PREFIX:$LIBDIR in
        /?*:/?*) ;;
        *) say "PREFIX= and LIBDIR= are absolute paths." ;;
    esac
    for entry in $(ls -A "$HOME_OF_CODE" 2>/dev/null); do
        case $entry in
            bin | include | lib | lib64 | pyvenv.cfg | share) ;;
            *) say "$HOME_OF_CODE holds $entry, which is not this program's: name a folder of its own with PREFIX=." ;;
        esac
    done
}

remove() {
    for pair in "${FILES[@]}"; do rm -f "${pair#* }"; done
    rm -rf "$HOME_OF_CODE"
    echo "Taken away. Configuration, keys and journal stay; see systemctl disable --now firmware-bridge for the service."
}

install_files() {
    for pair in "${FILES[@]}"; do
        sed "s|/opt/firmware-bridge|$PREFIX|g" "${pair% *}" | install -D -m 644 /dev/stdin "${pair#* }"
    done
}

install_code() {
    local base
    base=$("$PYTHON" -c 'import os, sys; print(os.path.realpath(sys.executable) if sys.version_info >= (3, 11) else "")') ||
        say "There is no Python at $PYTHON: apt-get install python3, or name another with PYTHON=."
    case $base in
        "") say "$PYTHON is older than Python 3.11: name another with PYTHON=." ;;
        /root/* | /home/*) say "The service cannot see $base: name a Python of the system's with PYTHON=." ;;
    esac
    [ -x "$HOME_OF_CODE/bin/python" ] || "$PYTHON" -m venv --without-pip "$HOME_OF_CODE"
    $PIP --python "$HOME_OF_CODE/bin/python" install --quiet --disable-pip-version-check --no-compile \
        --require-hashes -r requirements.lock
    SOURCES=$(mktemp -d)
    trap 'rm -rf "$SOURCES"' EXIT
    cp -r drivers firmware_bridge simulator pyproject.toml README.md "$SOURCES"  # building leaves nothing in the checkout
    $PIP --python "$HOME_OF_CODE/bin/python" install --quiet --disable-pip-version-check --no-compile --no-index \
        --no-deps --no-build-isolation --force-reinstall "$SOURCES"
    "$HOME_OF_CODE/bin/python" -m compileall -q "$HOME_OF_CODE/lib" -s "$DESTDIR"
    if [ -n "$DESTDIR" ]; then
        grep -lIrZ -- "$DESTDIR" "$HOME_OF_CODE/bin" "$HOME_OF_CODE/pyvenv.cfg" | xargs -0 -r sed -i "s|$DESTDIR||g"
    fi
}

check_places
[ "$(id -u)" = 0 ] || [ -n "$DESTDIR" ] || say "Installing onto this machine needs root: sudo make install."
case ${1:-} in
    install) install_code && install_files ;;
    files) install_files ;;  # for who puts the Python packages there another way
    uninstall) remove ;;
    *) say "say install, files or uninstall" ;;
esac
