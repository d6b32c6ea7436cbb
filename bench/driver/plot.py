"""The ratios as a picture: a bar each, as long as the part of its target that is reached, the target a line down the page."""
from xml.sax.saxutils import escape

from ratios import RATIOS
from report import figure

WIDTH, LEFT, RIGHT, BAR, GAP, TOP = 760, 210, 150, 15, 9, 58
LONGEST = 1.6  # times the target; longer bars are cut, their figure says how long
TABLE = {r.name: r for r in RATIOS}
STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #1f2328 }
    .small { font-size: 11px; fill: #59636e }
    .title { font-size: 14px; font-weight: 600 }
    .met { fill: #1a7f5a } .short { fill: #c4432b } .line { stroke: #1f2328; stroke-width: 1.5 }
    @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3 } .small { fill: #9198a1 } .met { fill: #3fb68b } .short { fill: #f0705a } .line { stroke: #e6edf3 }
    }"""


def reached(row):
    """1 is the target, more is better, whichever way the ratio counts."""
    if row["value"] is None or row["value"] <= 0:
        return None
    return row["value"] / row["target"] if TABLE[row["name"]].least else row["target"] / row["value"]


def bar(row, y, unit):
    share = reached(row)
    sign = "at least" if TABLE[row["name"]].least else "at most"
    lines = [f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(row["name"])}</text>']
    if share is None:
        return lines + [f'<text class="small" x="{LEFT + 6}" y="{y + 12}">not measured</text>']
    length = min(share, LONGEST) * unit
    kind = "met" if row["met"] else "short"
    lines.append(f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>')
    if share > LONGEST:
        lines.append(f'<path class="met" d="M{LEFT + length + 2:.1f} {y} l6 {BAR / 2} l-6 {BAR / 2} z"/>')
    lines.append(f'<text x="{WIDTH - RIGHT + 16}" y="{y + 12}">{figure(row["value"])}</text>')
    lines.append(f'<text class="small" x="{WIDTH - RIGHT + 62}" y="{y + 12}">{sign} {figure(row["target"])}</text>')
    return lines


def svg(results):
    rows, m = results["ratios"], results["machine"]
    unit = (WIDTH - LEFT - RIGHT) / LONGEST
    height = TOP + len(rows) * (BAR + GAP) + 34
    target = LEFT + unit
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
           f'aria-label="Ratios of bench/run against their targets">', f"<style>{STYLE}\n</style>",
           '<text class="title" x="12" y="22">mscache: ratios against their targets</text>',
           f'<text class="small" x="12" y="40">{escape(m["cpu"])}, {m["cores"]} cores, {escape(m["date"])}; longer is better</text>']
    for i, row in enumerate(rows):
        out += bar(row, TOP + i * (BAR + GAP), unit)
    bottom = TOP + len(rows) * (BAR + GAP)
    out.append(f'<line class="line" x1="{target:.1f}" y1="{TOP - 6}" x2="{target:.1f}" y2="{bottom}"/>')
    out.append(f'<text class="small" x="{target:.1f}" y="{bottom + 16}" text-anchor="middle">target</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
