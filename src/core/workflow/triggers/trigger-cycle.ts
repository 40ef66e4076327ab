/** Runs of `cause` trigger runs of `job`. */
export interface TriggerEdge {
  readonly cause: string
  readonly job: string
}

/**
 * The cycle that would exist if `job` were triggered by these causes: each job triggers the next, with the first
 * again at the end. `undefined` if there is none. `edges` contains all triggers that lead to the causes.
 */
export function findTriggerCycle(
  job: string,
  causes: readonly string[],
  edges: readonly TriggerEdge[],
): string[] | undefined {
  const causesOf = Map.groupBy(edges, (edge) => edge.job)
  /** The job that each job triggers, on the path to `job`. */
  const starts = new Map<string, string>(causes.map((cause) => [cause, job]))
  const open = [...starts.keys()]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === job) return pathFrom(job, starts)
    for (const { cause } of causesOf.get(next) ?? []) {
      if (starts.has(cause)) continue
      starts.set(cause, next)
      open.push(cause)
    }
  }
  return undefined
}

function pathFrom(job: string, starts: ReadonlyMap<string, string>): string[] {
  const path = [job]
  for (let next = starts.get(job); next !== undefined; next = starts.get(next)) {
    path.push(next)
    if (next === job) break
  }
  return path
}
