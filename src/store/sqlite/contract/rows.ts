import { NO_OPTIONS } from '../../contract/fixture.ts'
import type { NewRun } from '../../port.ts'

/** A run without options, of the first project, job and lane. */
export function newRun(id: number, overrides: Partial<NewRun> = {}): NewRun {
  return {
    id,
    projectId: 1,
    jobId: 1,
    laneId: 1,
    ...NO_OPTIONS,
    ...overrides,
  }
}
