// How often a repository releases: walks all of its releases and gives what they come to. Drafts and pre-releases do not
// count.

const DAY = 86400;

/**
 * @param {{ owner: string, repo: string }} args
 * @param {import("../pinhole-guest/index.js").Host} host
 */
export function release_rhythm(args, host) {
  const request = host.get("/repos/{owner}/{repo}/releases", args).query("per_page", 100);
  const times = [];
  for (const page of host.pages.link(request)) {
    for (const release of page.json()) {
      if (!release.draft && !release.prerelease) times.push(Date.parse(release.published_at) / 1000);
    }
  }
  host.log.debug(`${times.length} releases`);
  times.sort((a, b) => a - b);
  const gaps = times.slice(1).map((time, at) => (time - times[at]) / DAY);
  return {
    releases: times.length,
    first: day(times.at(0)),
    latest: day(times.at(-1)),
    days_since_latest: times.length > 0 ? Math.floor((host.now() - times.at(-1)) / DAY) : null,
    median_days_between: median(gaps),
  };
}

function day(time) {
  return time === undefined ? null : new Date(time * 1000).toISOString().slice(0, 10);
}

function median(numbers) {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const of = sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
  return Math.round(of * 10) / 10;
}
