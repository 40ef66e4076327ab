import type { WireStep } from '../../../core/workflow/step-views.ts'
import { readReference } from '../../payloads/reference.ts'
import { readResult } from '../../runs/run-view.ts'
import type { SeenRuns } from './find-step-runs.ts'
import type { SeenStep } from './read-step-facts.ts'

/** An output that is longer is left out: a page of steps stays a page. */
const MOST_BYTES = 1_024

/** What came of a step in short. What came of an item, its run says. */
export function outputOf(
  whole: SeenStep | undefined,
  runs: SeenRuns,
): Pick<WireStep, 'output' | 'output_bytes'> {
  const run = runs.find(whole?.runId ?? null)
  // What was answered to an approval stands with the step itself.
  const answer = whole?.count === null ? whole.detail : null
  const text = run ? run.result : answer
  if (text === null) return { output: null, output_bytes: null }
  const bytes = (run && readReference(run.id, text)?.bytes) ?? Buffer.byteLength(text)
  if (bytes > MOST_BYTES) return { output: null, output_bytes: bytes }
  return { output: readResult(text), output_bytes: null }
}
