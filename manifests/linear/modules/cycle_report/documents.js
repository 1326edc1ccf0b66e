// The documents of Linear's manifest that the module posts. The host refuses any other, so they are the same text there;
// a test holds them to it.

export const CYCLE =
  "query ReportCycle($team: String!, $filter: CycleFilter) { team(id: $team) { key name cycles(first: 1, filter: $filter) { nodes { id number name startsAt endsAt completedAt isActive progress } } } }";

export const ISSUES =
  "query ReportIssues($cycle: String!, $after: String) { cycle(id: $cycle) { issues(first: 100, after: $after) { nodes { id estimate state { name type } assignee { id displayName } } pageInfo { hasNextPage endCursor } } } }";

export const LEFT =
  "query ReportLeft($cycle: String!, $after: String) { cycle(id: $cycle) { uncompletedIssuesUponClose(first: 100, after: $after) { nodes { id estimate } pageInfo { hasNextPage endCursor } } } }";
