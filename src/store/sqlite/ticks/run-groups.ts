import type { NewRun } from '../../port.ts'

/** Runs that differ in nothing but id, lane, input and gates; rows by where they go. */
export interface Kind {
  readonly model: NewRun
  readonly ready: unknown[]
  readonly leased: unknown[]
  readonly readyHolding: unknown[]
  readonly leasedHolding: unknown[]
  readonly blocked: unknown[]
}

function newKind(model: NewRun): Kind {
  const rows = { ready: [], leased: [], readyHolding: [], leasedHolding: [], blocked: [] }
  return { model, ...rows }
}

export function createKinds() {
  const kinds = new Map<string, Kind>()
  let last: Kind | undefined
  const find = (run: NewRun): Kind => {
    const key = sharedBy(run).join()
    const kind = kinds.get(key) ?? newKind(run)
    kinds.set(key, kind)
    return kind
  }
  return {
    of(run: NewRun): Kind {
      if (!last || !isAlike(last.model, run)) last = find(run)
      return last
    },
    all: () => kinds.values(),
  }
}

/** What runs of one kind have in common, in the order of `SHARED`. */
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
