#!/usr/bin/env bash
# Boots the container within mounts and cgroups of its own: boot.sh TREE WORK, ended with the process it becomes.
# TREE: what `make install` made. WORK: an empty folder; WORK/root is the machine's root, with TREE in it.
set -eu
TREE=$1 WORK=$2

for hierarchy in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
    [ -e "$hierarchy/cgroup.procs" ] || continue
    mkdir -p "$hierarchy/table-bench-$$"
    echo $$ > "$hierarchy/table-bench-$$/cgroup.procs"
done

mount -t tmpfs -o mode=755 tmpfs "$WORK"
mkdir "$WORK"/{up,work,root}
# A copy, taken while nobody installs: the next run of the suite may put another checkout into TREE at any time.
flock "$TREE/../lock" cp -a "$TREE/usr" "$TREE/opt" "$WORK/up/"
mkdir -p "$WORK/up/etc/systemd/system"
: > "$WORK/up/etc/machine-id"
printf '[Unit]\nRequires=basic.target\nAfter=basic.target\nAllowIsolate=yes\n' > "$WORK/up/etc/systemd/system/table.target"
mount -t overlay -o "lowerdir=/,upperdir=$WORK/up,workdir=$WORK/work" overlay "$WORK/root"
exec systemd-nspawn --quiet --boot --register=no --keep-unit --directory="$WORK/root" --private-network \
    --link-journal=no --console=pipe \
    --bind=/dev/pts:/dev/host-pts systemd.unit=table.target
