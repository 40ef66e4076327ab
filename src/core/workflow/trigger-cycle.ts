/** Runs of `cause` start runs of `job`. */
export interface FollowEdge {
  readonly cause: string
  readonly job: string
}

/**
 * The circle there would be if a job followed these: each starts the next, and the first is there again
 * at the end. `undefined` if there is none. `edges` is everything that leads to the causes.
 */
export function findFollowCircle(
  job: string,
  causes: readonly string[],
  edges: readonly FollowEdge[],
): string[] | undefined {
  const causesOf = Map.groupBy(edges, (edge) => edge.job)
  /** What each of them starts, on the way to the job. */
  const starts = new Map<string, string>(causes.map((cause) => [cause, job]))
  const open = [...starts.keys()]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === job) return wayFrom(job, starts)
    for (const { cause } of causesOf.get(next) ?? []) {
      if (starts.has(cause)) continue
      starts.set(cause, next)
      open.push(cause)
    }
  }
  return undefined
}

function wayFrom(job: string, starts: ReadonlyMap<string, string>): string[] {
  const path = [job]
  for (let next = starts.get(job); next !== undefined; next = starts.get(next)) {
    path.push(next)
    if (next === job) break
  }
  return path
}
