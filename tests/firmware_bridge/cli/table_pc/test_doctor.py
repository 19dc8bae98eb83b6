import subprocess
import sys
from pathlib import Path

import pytest

from tests.firmware_bridge.doctor.table_pc import TablePc


@pytest.mark.real
def test_the_command_tells_the_same_as_json(tmp_path: Path) -> None:
    pc = TablePc(tmp_path)
    run = "import sys; from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
    command = [sys.executable, "-c", run, "doctor", "--config", str(pc.at("/nowhere.toml"))]
    words = subprocess.run(command, check=False, capture_output=True, text=True)
    as_json = subprocess.run([*command, "--json"], check=False, capture_output=True, text=True)
    assert words.returncode == as_json.returncode == 2
    assert "There is no configuration file" in words.stdout
    assert '"check":"configuration","health":"wrong"' in as_json.stdout
    assert "Traceback" not in words.stderr + as_json.stderr


@pytest.mark.real
def test_what_a_device_calls_itself_does_not_steer_the_terminal(tmp_path: Path) -> None:
    pc = TablePc(tmp_path)
    pc.change('name = "table-1"', 'name = "table-1"\n"\\u001b[31m" = 1')
    run = "import sys; from firmware_bridge.cli import main; sys.argv[0] = 'firmware-bridge'; main()"
    command = [sys.executable, "-c", run, "doctor", "--config", str(pc.at("/etc/firmware-bridge/table.toml"))]
    told = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    assert "?[31m is not known" in told
