import type { WorkflowTracker, TrackedWorkflow } from './workflow-tracker.ts'

/** Waves of a job are numbered from 1 without gaps, and a retry keeps the number of the wave it repeats. */
export function createWaveInvariants(
  tracker: WorkflowTracker,
  violate: (invariant: string, detail: string) => void,
): { began(tracked: TrackedWorkflow): void } {
  const last = new Map<string, number>()
  return {
    began(tracked) {
      const { workflowId, wave, drawn, retryOf } = tracked
      const { name, isGated } = drawn
      const repeated = retryOf === null ? undefined : tracker.all.get(retryOf)
      const expected = repeated?.wave ?? (last.get(name) ?? 0) + 1
      if (!repeated) last.set(name, expected)
      if (wave !== expected) {
        violate(
          'waves are counted',
          `${name}: workflow ${workflowId} is wave ${wave}, not ${expected}`,
        )
      }
      const others = tracker.open().filter((other) => other !== tracked && other.drawn === drawn)
      if (!isGated || others.length === 0) return
      const detail = `${name}: workflow ${workflowId} began while ${others[0]?.workflowId} was open`
      violate('waves overlap', detail)
    },
  }
}
