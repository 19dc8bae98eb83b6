from firmware_bridge.doctor.context import DoctorContext, context_of
from firmware_bridge.doctor.machine import Machine
from tests.firmware_bridge.doctor.table_pc import SHOE, TablePc


def context(pc: TablePc) -> DoctorContext:
    return context_of(Machine(pc.root, pc.ask), pc.at("/etc/firmware-bridge/table.toml"))


def test_ports_nodes_and_lines_of_the_configured_devices(pc: TablePc) -> None:
    found = context(pc)
    assert found.config is not None
    assert found.trouble == ""
    assert [device.name for device, _ in found.ports()] == ["shuffler", "shoe"]
    assert [found.nodes(port) for _, port in found.ports()] == [["/dev/ttyACM0"], ["/dev/ttyUSB0"]]
    assert [(device.name, line.latency_timer) for device, line in found.lines()] == [("shuffler", None), ("shoe", 1)]


def test_a_port_by_its_property_leads_to_every_line_that_has_it(pc: TablePc) -> None:
    pc.change(f"serial:{SHOE}", "serial:by=ID_SERIAL_SHORT=TDP-7")
    (port,) = [port for device, port in context(pc).ports() if device.name == "shoe"]
    assert context(pc).nodes(port) == ["/dev/ttyUSB0"]


def test_ports_that_are_no_serial_lines_have_no_nodes(pc: TablePc) -> None:
    pc.change(f"serial:{SHOE}", "tcp:127.0.0.1:4000")
    assert [
        found for device, port in context(pc).ports() if device.name == "shoe" for found in context(pc).nodes(port)
    ] == []
    assert [device.name for device, _ in context(pc).lines()] == ["shuffler"]


def test_without_a_configuration_the_machine_is_still_looked_at(pc: TablePc) -> None:
    pc.at("/etc/firmware-bridge/table.toml").unlink()
    found = context(pc)
    assert found.config is None
    assert "no configuration file" in found.trouble.lower()
    assert list(found.ports()) == []
    assert list(found.lines()) == []
    assert found.unit.path is not None
