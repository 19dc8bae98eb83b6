#!/usr/bin/env bash
# Lets the machine's own udevadm apply rules to devices of files: fake_sys.sh SYS RULES DEVICE...
# Within mounts of its own, SYS stands for /sys, RULES for every folder of rules, and /dev and /run are empty.
set -eu
SYS=$1 RULES=$2
shift 2
mount --bind "$SYS" /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs -o mode=755 tmpfs /dev
mknod /dev/null c 1 3
mkdir -p /run/udev /dev/bus/usb/001
mknod /dev/ttyUSB0 c 188 0
mknod /dev/ttyACM0 c 166 0
mknod /dev/bus/usb/001/002 c 189 1
mount --bind "$RULES" /usr/lib/udev/rules.d
if [ -d /etc/udev/rules.d ]; then mount -t tmpfs tmpfs /etc/udev/rules.d; fi
# As this machine may not have it, its number is the one that the tests look for.
cp /etc/group /run/group
sed -i '/^table-devices:/d' /run/group
echo "table-devices:x:4321:" >> /run/group
mount --bind /run/group /etc/group
export SYSTEMD_DEVICE_VERIFY_SYSFS=0
for device in "$@"; do
    udevadm test --action=add "$device" 2>&1
    echo "--- $device"
done
find /dev -type c -printf '%p %g %m\n'
find /dev/table -type l -printf '%p %l\n' 2>/dev/null || true
