"""How old a repository's open issues are: walks all of them and gives medians and the oldest, in whole days, also by label.

Pull requests do not count, though GitHub lists them as issues.
"""

from collections import defaultdict
from datetime import datetime
from statistics import median, quantiles

from pinhole_guest import world

DAY = 86400


def issue_ages(args, host):
    """The op: its args, checked and with their defaults, to what `pick` picks from."""
    request = host.get("/repos/{owner}/{repo}/issues", args).query("state", "open").query("per_page", 100)
    now = host.now()
    ages = []
    by_label = defaultdict(list)
    for page in host.pages.link(request):
        for issue in page.json():
            if "pull_request" in issue:
                continue
            age = (now - datetime.fromisoformat(issue["created_at"]).timestamp()) / DAY
            ages.append(age)
            for label in issue["labels"]:
                by_label[label["name"]].append(age)
    host.log.debug(f"{len(ages)} issues")
    labels = sorted(by_label.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        "open": len(ages),
        "median_days": whole(median(ages)) if ages else None,
        "p90_days": whole(quantiles(ages, n=10, method="inclusive")[-1]) if len(ages) > 1 else None,
        "oldest_days": whole(max(ages)) if ages else None,
        "labels": [
            {"name": name, "open": len(found), "median_days": whole(median(found))} for name, found in labels[: args["labels"]]
        ],
    }


def whole(days):
    """Whole days, for a fraction of one says nothing."""
    return int(days)


WitWorld = world(issue_ages)
