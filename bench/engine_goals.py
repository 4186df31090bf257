"""What a report of bench/engine.py says of the goals of the plan."""
GOALS = {
    "speed_tuned": 5, "speed_default": 40, "share_of_matrix_rate": 0.55, "share_of_allowance": 1,
    "time_exponent": (0.97, 1.03), "training_time": 1 / 3, "training_memory": 1 / 10,
}


def goals(report):
    """What the report says of each goal: where, what was found, what is wanted, whether met (None:
    the report does not tell)."""
    found = []

    def add(where, goal, value, wanted, met):
        found.append({"where": where, "goal": goal, "found": value, "wanted": wanted, "met": met})

    def at_least(where, goal, value, bound):
        add(where, goal, value, f">= {bound}", None if value is None else value >= bound)

    def at_most(where, goal, value, bound):
        add(where, goal, value, f"<= {bound:.2g}", None if value is None else value <= bound)

    def times(entry):
        return None if entry is None else entry["times"]

    for row in report.get("inference", []):
        where = f"inference, {row['points']} points, {row['threads']} threads"
        for name in ("speed_tuned", "speed_default"):
            entry = row[name]
            at_least(where, name, times(entry), GOALS[name])
            if entry and entry["at_least"] and not found[-1]["met"]:
                found[-1]["met"] = None  # A lower bound cannot miss.
        shares = row.get("share_of_matrix_rate")
        # Against the better kernels: the rate that this processor reaches.
        at_least(where, "share_of_matrix_rate", min(shares.values()) if shares else None,
                 GOALS["share_of_matrix_rate"])
        at_most(where, "share_of_allowance", row.get("share_of_allowance"),
                GOALS["share_of_allowance"])
    for row in report.get("growth", []):
        if row["quantity"] == "points" and row["time_exponent"] is not None:
            low, high = GOALS["time_exponent"]
            add(f"growth, {row['sizes'][0]} to {row['sizes'][-1]} points", "time_exponent",
                row["time_exponent"], f"{low} to {high}", low <= row["time_exponent"] <= high)
    for row in report.get("training", []):
        where = f"training, {row['points']} points, {row['threads']} threads"
        for name, entry in (("training_time", row["times_eager_tuned"]),
                            ("training_memory", row["memory_eager_tuned"])):
            at_most(where, name, 1 / entry["times"] if entry else None, GOALS[name])
    return found
