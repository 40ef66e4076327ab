import type { NewRun } from '../../port.ts'

/** Runs that differ only in id, lane, input and gates; their rows by target state. */
export interface RunGroup {
  readonly model: NewRun
  readonly ready: unknown[]
  readonly leased: unknown[]
  readonly readyGated: unknown[]
  readonly leasedGated: unknown[]
  readonly blocked: unknown[]
}

function newGroup(model: NewRun): RunGroup {
  const rows = { ready: [], leased: [], readyGated: [], leasedGated: [], blocked: [] }
  return { model, ...rows }
}

export function createRunGroups() {
  const groups = new Map<string, RunGroup>()
  let last: RunGroup | undefined
  const find = (run: NewRun): RunGroup => {
    const key = sharedBy(run).join()
    const group = groups.get(key) ?? newGroup(run)
    groups.set(key, group)
    return group
  }
  return {
    of(run: NewRun): RunGroup {
      if (!last || !isAlike(last.model, run)) last = find(run)
      return last
    },
    all: () => groups.values(),
  }
}

/** The values that runs of one group share, in the order of `SHARED_COLUMNS`. */
export function sharedBy(run: NewRun): unknown[] {
  const { projectId, jobId, rank, dueAt, timeoutMs, policy, version, createdBy } = run
  return [projectId, jobId, rank, dueAt, timeoutMs, policy, version, createdBy]
}

function isAlike(a: NewRun, b: NewRun): boolean {
  return (
    a.jobId === b.jobId &&
    a.rank === b.rank &&
    a.dueAt === b.dueAt &&
    a.timeoutMs === b.timeoutMs &&
    a.policy === b.policy &&
    a.version === b.version &&
    a.createdBy === b.createdBy &&
    a.projectId === b.projectId
  )
}
