import type { WireStep } from '../../../core/workflow/views/step-views.ts'
import { readReference } from '../../payloads/reference.ts'
import { readResult } from '../../runs/run-view.ts'
import type { StepRunViews } from './find-step-runs.ts'
import type { StepSnapshot } from './read-step-facts.ts'

/** A longer output is left out, so that a page of steps stays small. */
const MOST_BYTES = 1_024

/** The output of a step, shortened. The output of an item is read from its run. */
export function outputOf(
  whole: StepSnapshot | undefined,
  runs: StepRunViews,
): Pick<WireStep, 'output' | 'output_bytes'> {
  const run = runs.find(whole?.runId ?? null)
  // The answer to an approval is stored with the step itself.
  const answer = whole?.count === null ? whole.detail : null
  const text = run ? run.result : answer
  if (text === null) return { output: null, output_bytes: null }
  const bytes = (run && readReference(run.id, text)?.bytes) ?? Buffer.byteLength(text)
  if (bytes > MOST_BYTES) return { output: null, output_bytes: bytes }
  return { output: readResult(text), output_bytes: null }
}
