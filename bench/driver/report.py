"""A run's results as Markdown, and the table in the README."""
import re
import statistics

from ratios import RATIOS

BEGIN, END = "<!-- bench/run --readme: begin -->", "<!-- bench/run --readme: end -->"
TABLE = {r.name: r for r in RATIOS}


def figure(v):
    return "-" if v is None else f"{v:.3g}" if abs(v) < 100 else f"{v:,.0f}".replace(",", " ")


def verdict(row):
    if row.get("error"):
        return "error"
    return {True: "yes", False: "**no**", None: "not measured"}[row["met"]]


def wanted(row):
    return f"{'>=' if TABLE[row['name']].least else '<='} {figure(row['target'])}" if not TABLE[row["name"]].best else "> 1"


def ratio_table(results):
    lines = ["| ratio | measured | wanted | met | what is divided |", "| --- | --- | --- | --- | --- |"]
    for row in results["ratios"]:
        lines.append(f"| `{row['name']}` | {figure(row['value'])} | {wanted(row)} | {verdict(row)} | {TABLE[row['name']].what} |")
    return lines


def shortfalls(results):
    """The losses in words, a line each."""
    lines = []
    for row in results["ratios"]:
        what = TABLE[row["name"]].what
        if row.get("error"):
            lines.append(f"- `{row['name']}` has no figure: {row['error']}.")
        elif row["value"] is None:
            lines.append(f"- `{row['name']}` was not measured" + (f": {', '.join(row['missing'])} is not installed." if row.get("missing") else "."))
        elif not row["met"]:
            by = abs(row["value"] / row["target"] - 1) * 100
            lines.append(f"- `{row['name']}` falls short: {figure(row['value'])}, {by:.0f} % from the {figure(row['target'])} wanted ({what}).")
    return lines


def rows_of(results):
    """The parts that are measured rows, each once."""
    rows = {}
    for ratio in results["ratios"]:
        for name, part in ratio["parts"].items():
            if isinstance(part, dict) and "unit" in part:
                rows.setdefault(name, part)
    return rows


def doubts(results):
    """What makes these figures doubtful, as sentences; "" on an idle machine."""
    rows = rows_of(results).values()
    other = [p["other_cpu"] for p in rows if "other_cpu" in p]
    busy, few = statistics.median(other) if other else 0, min((p["rounds"] for p in rows), default=0)
    text = ""
    if busy > 0.2:
        text += (f" **The machine was busy:** other processes used {busy:.1f} of its {results['machine']['cores']} cores meanwhile, so these "
                 "figures are to be measured again.")
    if 0 < few < 5:
        text += f" There were {few} rounds only."
    return text


def machine_line(m):
    return (f"{m['cpu']} (family {m['family_model']}), {m['cores']} cores, {m['memory_GiB']} GiB, last level cache {m['last_level_cache']}, "
            f"Linux {m['kernel']}, {', '.join(m['flags'])}")


def series_table(results):
    lines = ["| row | median | min | max | spread | rounds | other CPU |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, p in rows_of(results).items():
        spread = f"{p['spread'] * 100:.0f} %{' !' if p.get('noisy') else ''}" if "spread" in p else "-"
        other = f"{p['other_cpu']:.2f}" if "other_cpu" in p else "-"
        lines.append(f"| {name} | {figure(p['median'])} {p['unit']} | {figure(p['min'])} | {figure(p['max'])} | {spread} | {p['rounds']} | {other} |")
    return lines


def versions(m):
    items = [f"{k} {v}" for k, v in {**m["libraries"], **m["peers"]}.items()]
    return ", ".join(items)


def markdown(results):
    m = results["machine"]
    lines = ["# Results of bench/run", "", f"Measured on {m['date']}: {machine_line(m)}.{doubts(results)}", "", f"Versions: {versions(m)}. The limit's loops: "
             f"{m['limit_loops']}. Mode {m['mode']}, {m['images']} different images.", ""]
    lines += ratio_table(results) + [""]
    lines += ["## What falls short", ""] + (shortfalls(results) or ["Nothing."]) + [""]
    lines += ["## The rows", "", "Medians over rounds in which all programs took turns. `!` marks a spread ((max - min) / median) over 15 %; other CPU is "
              "what other processes used meanwhile, in cores. \"1t\" is one thread.", ""]
    return "\n".join(lines + series_table(results)) + "\n"


def readme_section(results):
    m = results["machine"]
    lines = [f"Measured on {m['date']}: {machine_line(m)}. Other machines give other figures: run it on yours.{doubts(results)}", ""]
    return "\n".join(lines + ratio_table(results) + [""] + (shortfalls(results) or ["Every target is met."]))


def refresh_readme(path, results):
    text = open(path, encoding="utf-8").read()
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.S)
    if not pattern.search(text):
        raise SystemExit(f"{path}: no line {BEGIN}")
    section = f"{BEGIN}\n{readme_section(results)}\n{END}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(pattern.sub(lambda _: section, text))
