#!/usr/bin/env bash
# The virtual machine of tests/vm: what this machine needs for it, and its image, built once for each content of
# the lists in tests/vm/image and of requirements.lock. Quick where both are there already.
#
#   tests/parts/virtual_machine.sh           install and build what is missing
#   tests/parts/virtual_machine.sh --where   print the folder of the image, built or not
set -eu
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin  # after a plain su they are not in it
cd "$(dirname "$0")/../.."

RECIPE=(tests/parts/virtual_machine.sh tests/parts/copy_packages.py tests/vm/image/* requirements.lock)
IMAGE=.cache/vm/$(cat "${RECIPE[@]}" | sha256sum | cut -c 1-16)
HOME_OF_CODE=/opt/firmware-bridge
WHICH='import sys; print("python%d.%d" % sys.version_info[:2])'
PYTHON=.venv/bin/python
NEEDED=(qemu-system-x86 mmdebstrap busybox-static e2fsprogs kmod cpio zstd)

say() { echo "virtual machine: $*" >&2; }

# Whether its tests may be skipped is for whoever runs them to say: see tests/parts/required.py.
skip() { say "$*, so its tests are skipped"; exit 0; }

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null | sort | uniq -c)" = "$(printf '%7d installed' $#)" ]
}

install_needed() {
    apt-get -q=2 install --no-install-recommends "${NEEDED[@]}" >"$1" 2>&1 ||
        { apt-get -q=2 update && apt-get -q=2 install --no-install-recommends "${NEEDED[@]}"; } >"$1" 2>&1 ||
        { tail -n 20 "$1" >&2; skip "the packages ${NEEDED[*]} could not be installed"; }
}

# The files of the modules named on stdin and of those they stand on, in the order of loading.
with_below() {
    xargs modprobe -d "$1" -S "$2" --show-depends -a | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++'
}

# Debian's own kernel: the image itself, and of its modules those of the list with what they stand on.
unpack_kernel() {
    local work=$1 package release
    package=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
    (cd "$work" && apt-get -q=2 -o APT::Sandbox::User=root download "$package" && dpkg -x linux-image-*.deb kernel)
    release=$(cd "$work/kernel/lib/modules" && echo *)
    cp "$work/kernel/boot/vmlinuz-$release" "$work/image/vmlinuz"
    depmod -b "$work/kernel" "$release"
    with_below "$work/kernel" "$release" < tests/vm/image/modules.txt > "$work/modules"
    printf '%s\n' virtio_pci virtio_blk ext4 | with_below "$work/kernel" "$release" > "$work/for-the-disk"
    while read -r module; do
        install -D -m 644 "$module" "$work/root/${module#"$work/kernel/"}"
    done < "$work/modules"
    cp "$work/kernel/lib/modules/$release/modules.builtin"* "$work/kernel/lib/modules/$release/modules.order" \
        "$work/root/lib/modules/$release/"
    depmod -b "$work/root" "$release"
}

# Debian with systemd from this machine's own sources, and the project's Python packages as the lock has them.
unpack_debian() {
    local work=$1 suite theirs ours
    suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Origin: Debian' 'Created-By: Packages' \
        > "$work/sources.list"
    mmdebstrap --quiet --mode=root --variant=essential --format=directory \
        --include="$(grep -v '^#' tests/vm/image/packages.txt | paste -sd,)" \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' "$suite" "$work/root" "$work/sources.list"
    theirs=$(chroot "$work/root" python3 -c "$WHICH")
    ours=$("$PYTHON" -c "$WHICH")
    [ "$theirs" = "$ours" ] ||
        skip "Debian's Python is $theirs, but $PYTHON is $ours: make .venv with $theirs"
    chroot "$work/root" python3 -m venv --without-pip "$HOME_OF_CODE"
    "$PYTHON" tests/parts/copy_packages.py requirements.lock "$work/root$HOME_OF_CODE/lib/$theirs/site-packages"
    chroot "$work/root" python3 -m compileall -q "$HOME_OF_CODE"
    # Out with what serves no purpose here and takes seconds of a slow machine.
    for unit in $(grep -v '^#' tests/vm/image/masked.txt); do
        ln -sf /dev/null "$work/root/etc/systemd/system/$unit"
    done
    mkdir -p "$work/root/etc/systemd/system-generators"
    for generator in "$work"/root/lib/systemd/system-generators/*; do
        ln -s /dev/null "$work/root/etc/systemd/system-generators/${generator##*/}"
    done
    echo bench > "$work/root/etc/hostname"
    : > "$work/root/etc/machine-id"
}

build() {
    local work=$1
    mkdir -p "$work/image" "$work/first"/{bin,dev,disk,code}
    say "building the image, once: Debian, its kernel, the locked Python packages"
    unpack_debian "$work"
    unpack_kernel "$work"
    while read -r module; do
        cp "$module" "$work/first/"
        echo "/${module##*/}"
    done < "$work/for-the-disk" > "$work/first/modules"
    cp /bin/busybox "$work/first/bin/"
    install -m 755 tests/vm/image/init "$work/first/init"
    (cd "$work/first" && find . -mindepth 1 | cpio --quiet -o -H newc) | zstd -q -3 > "$work/image/first.cpio.zst"
    mke2fs -q -t ext4 -O ^has_journal -d "$work/root" "$work/image/root.ext4" 3G > /dev/null
    rm -rf "${IMAGE%/*}"/????????????????
    mv "$work/image" "$IMAGE"
}

case ${1:-} in
    --where) echo "$IMAGE"; exit ;;
    "") ;;
    *) say "the only option is --where"; exit 2 ;;
esac

if [ "$(id -u)" != 0 ]; then
    { [ -d "$IMAGE" ] && installed "${NEEDED[@]}"; } || skip "installing its parts needs root (sudo $0)"
    exit 0
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
installed "${NEEDED[@]}" || install_needed "$WORK/apt.log"
mkdir -p "${IMAGE%/*}"
exec 9>"${IMAGE%/*}/lock"
flock 9
[ -d "$IMAGE" ] || build "$WORK"
