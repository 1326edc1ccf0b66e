// How a team's cycle stands: scope, what is done, by assignee and by state, in issues and in points, what came over from
// the cycle before and what was left over for the next.
//
// Refuses to report on part of a cycle: all of its issues are read, or there is an error. No issue leaves, only sums;
// names are those of assignees and states.

import { CYCLE, ISSUES, LEFT } from "./documents.js";

const PATH = "/graphql";
const DAY = 86400;
/** Pages of 100: more issues than a cycle has. */
const PAGES = 20;

/**
 * @param {{ team_id: string, which: string, number?: number }} args
 * @param {import("../../../../guest-sdk/js/pinhole-guest/index.js").Host} host
 */
export function cycle_report(args, host) {
  const filter = args.number === undefined ? FILTERS[args.which] : { number: { eq: args.number } };
  const team = host.graphql(PATH, CYCLE, { team: args.team_id, filter }).team;
  const [cycle] = team.cycles.nodes;
  if (cycle === undefined) {
    // The error is thrown as a plain one: this file imports nothing that only the sandbox finds.
    const which = args.number === undefined ? `${args.which} cycle` : `cycle ${args.number}`;
    throw new Error(`the team has no ${which}: list_cycles shows those that it has`);
  }
  const issues = all(host, ISSUES, cycle, "issues");
  const before = issues.length > 0 ? leftBefore(args.team_id, cycle, host) : new Set();
  const left = cycle.completedAt === null ? [] : all(host, LEFT, cycle, "uncompletedIssuesUponClose");

  const dropped = issues.filter(is("canceled", "duplicate"));
  const scope = issues.filter((issue) => !dropped.includes(issue));
  const completed = scope.filter(is("completed"));
  return {
    team: { key: team.key, name: team.name },
    cycle: {
      number: cycle.number,
      name: cycle.name,
      starts_at: cycle.startsAt,
      ends_at: cycle.endsAt,
      completed_at: cycle.completedAt,
      is_active: cycle.isActive,
      progress: cycle.progress,
    },
    days_left: daysLeft(cycle, host.now()),
    scope: { ...sum(scope), unestimated: scope.filter(({ estimate }) => estimate === null).length },
    completed: sum(completed),
    started: sum(scope.filter(is("started"))),
    not_started: sum(scope.filter(is("unstarted", "backlog", "triage"))),
    canceled: sum(dropped),
    carried_in: sum(issues.filter(({ id }) => before.has(id))),
    carried_out: sum(left),
    states: states(issues),
    assignees: assignees(scope),
  };
}

const FILTERS = {
  active: { isActive: { eq: true } },
  previous: { isPrevious: { eq: true } },
  next: { isNext: { eq: true } },
};

function all(host, document, cycle, member) {
  const connection = (data) => data.cycle[member];
  const pages = host.pages.relay(PATH, document, { cycle: cycle.id }, { connection, limit: PAGES });
  return [...pages].flatMap((data) => connection(data).nodes);
}

/** The ids of the issues that were open when the cycle before this one was closed. */
function leftBefore(team, cycle, host) {
  const filter = { number: { eq: cycle.number - 1 } };
  const [before] = cycle.number > 1 ? host.graphql(PATH, CYCLE, { team, filter }).team.cycles.nodes : [];
  if (before === undefined || before.completedAt === null) return new Set();
  return new Set(all(host, LEFT, before, "uncompletedIssuesUponClose").map(({ id }) => id));
}

function is(...types) {
  return ({ state }) => types.includes(state.type);
}

function sum(issues) {
  return { issues: issues.length, points: issues.reduce((points, { estimate }) => points + (estimate ?? 0), 0) };
}

/** Days until the end, begun ones whole. */
function daysLeft(cycle, now) {
  const end = Date.parse(cycle.endsAt) / 1000;
  if (Number.isNaN(end)) throw new Error("Linear gave an end of the cycle that is no time");
  return cycle.completedAt === null ? Math.max(0, Math.ceil((end - now) / DAY)) : 0;
}

/** As a workflow runs. */
const ORDER = ["triage", "backlog", "unstarted", "started", "completed", "canceled", "duplicate"];

function states(issues) {
  const groups = grouped(issues, ({ state }) => `${state.type} ${state.name}`);
  const rows = groups.map((issues) => ({ name: issues[0].state.name, type: issues[0].state.type, ...sum(issues) }));
  const place = ({ type }) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);
  return rows.sort((a, b) => place(a) - place(b) || compare(a.name, b.name));
}

function assignees(issues) {
  const groups = grouped(issues, ({ assignee }) => assignee?.id ?? "");
  const rows = groups.map((issues) => {
    const done = sum(issues.filter(is("completed")));
    return {
      name: issues[0].assignee?.displayName ?? null,
      ...sum(issues),
      completed_issues: done.issues,
      completed_points: done.points,
    };
  });
  // Nobody comes last.
  const nobody = ({ name }) => (name === null ? 1 : 0);
  return rows.sort((a, b) => nobody(a) - nobody(b) || b.points - a.points || compare(a.name, b.name));
}

function grouped(issues, key) {
  const groups = new Map();
  for (const issue of issues) {
    const name = key(issue);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(issue);
  }
  return [...groups.values()];
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
