import type { NewRun } from '../../port.ts'

/** A run without options, of the first project, job and lane. */
export function newRun(id: number, overrides: Partial<NewRun> = {}): NewRun {
  return {
    id,
    projectId: 1,
    jobId: 1,
    laneId: 1,
    rank: 0,
    dueAt: null,
    timeoutMs: null,
    policy: null,
    version: null,
    createdBy: null,
    work: null,
    input: null,
    tags: null,
    gates: [],
    dedupeKey: null,
    idempotency: null,
    retryOf: null,
    reservation: null,
    ...overrides,
  }
}
