"""The bench report: one HTML file that needs nothing else, not even a script to be shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from html import escape
from typing import Final

from tests.hil.bench.devices import Device

STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222 }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .25em .8em; vertical-align: top }
tr { border-bottom: 1px solid #ddd } pre { background: #f4f4f4; padding: .8em; overflow-x: auto; font-size: 13px }
.passed { color: #176117 } .failed { color: #a11; font-weight: bold } .notrun { color: #775500 }
"""
WORDS: Final = {"passed": "passed", "failed": "failed", "notrun": "not run"}


@dataclass(slots=True)
class Outcome:
    """One test. `result` is passed, failed or notrun; `why`: what failed, or why it was not run.

    `says`: what is tested, in words; `sections`: headings and lines that a failure shows.
    """

    name: str
    result: str
    took_s: float
    why: str = ""
    says: str = ""
    sections: list[tuple[str, list[str]]] = field(default_factory=list)


def html_report(began: datetime, devices: Iterable[Device], outcomes: Sequence[Outcome], closing: Iterable[str]) -> str:
    """The whole file. Every text in it is escaped: some of it comes from the devices."""
    counts = {result: sum(outcome.result == result for outcome in outcomes) for result in WORDS}
    summary = ", ".join(f"{count} {WORDS[result]}" for result, count in counts.items())
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Bench report</title>',
        f"<style>{STYLE}</style></head><body><h1>Bench report</h1>",
        f"<p>{escape(began.strftime('%Y-%m-%d %H:%M:%S %Z'))}: {escape(summary)}.</p>",
        *(f"<p>{escape(line)}</p>" for line in closing),
        "<h2>Devices</h2>",
        _devices(devices),
        "<h2>Tests</h2>",
        _tests(outcomes),
    ]
    for number, outcome in enumerate(outcomes):
        if outcome.result == "failed":
            parts.append(_failure(number, outcome))
    return "\n".join([*parts, "</body></html>\n"])


def _devices(devices: Iterable[Device]) -> str:
    rows = [
        _row(
            "th",
            "device",
            "port",
            "vendor and model",
            "serial number",
            "firmware",
            "its hash, as it claims",
            "protocol",
        )
    ]
    for device in devices:
        claims = device.claims
        if claims is None:
            rows.append(_row("td", device.name, device.port, "was not found", "", "", "", ""))
        else:
            rows.append(
                _row(
                    "td",
                    device.name,
                    f"simulated, {device.port}" if device.simulated else device.port,
                    f"{claims.vendor} {claims.model}",
                    claims.serial_number,
                    claims.firmware_version,
                    claims.firmware_hash[:16],
                    claims.protocol,
                )
            )
    return f"<table>{''.join(rows)}</table>"


def _tests(outcomes: Sequence[Outcome]) -> str:
    rows = [_row("th", "test", "result", "seconds", "")]
    for number, outcome in enumerate(outcomes):
        name = escape(outcome.name)
        if outcome.result == "failed":
            name = f'<a href="#failure-{number}">{name}</a>'
        why = outcome.why if outcome.result == "notrun" else ""
        rows.append(
            f'<tr><td>{name}</td><td class="{outcome.result}">{WORDS[outcome.result]}</td>'
            f"<td>{outcome.took_s:.1f}</td><td>{escape(why)}</td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def _failure(number: int, outcome: Outcome) -> str:
    sections = "".join(
        f"<h3>{escape(heading)}</h3><pre>{escape(chr(10).join(lines))}</pre>" for heading, lines in outcome.sections
    )
    head = f'<h2 id="failure-{number}">{escape(outcome.name)}</h2><p>{escape(outcome.says)}</p>'
    return f"{head}<pre>{escape(outcome.why)}</pre>{sections}"


def _row(tag: str, *cells: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
