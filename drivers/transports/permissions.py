"""Which of group, udev rule or service keeps a device's node shut, in words."""

import grp
import os
import stat
from typing import Final

ROOT_GROUP: Final = 0
_GROUP_ACCESS: Final = stat.S_IRGRP | stat.S_IWGRP


def forbidden(path: str) -> str:
    """The sentence for a node that this user was not allowed to open."""
    try:
        device = os.stat(path)
    except OSError:
        return f"this user may not look at {path}: grant access to its folder, or correct `port` in the configuration"
    try:
        group = grp.getgrgid(device.st_gid).gr_name
    except KeyError:
        group = str(device.st_gid)
    about = f"{path} (group {group}, mode {stat.S_IMODE(device.st_mode):04o})"
    if device.st_gid == ROOT_GROUP or device.st_mode & _GROUP_ACCESS != _GROUP_ACCESS:
        return f"this user may not open {about}: install the udev rule that lets a group read and write it"
    if device.st_gid in (*os.getgroups(), os.getegid()):
        return f"the system forbids {about} though this user is in the group: allow the device to the service"
    return f"this user may not open {about}: add the user to the group {group} and start anew"
