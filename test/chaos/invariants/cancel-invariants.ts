import type { RecordedAttempt } from '../attempts.ts'
import type { CancelNote, History } from '../history.ts'
import type { Violation } from '../violation.ts'

/** After the answer `cancelled` no attempt starts; after `cancelling` the run ends in one of two states. */
export function cancelInvariants(
  { client, dump }: History,
  attempts: readonly RecordedAttempt[],
): Violation[] {
  const states = new Map(dump.runs.map(({ run, state }) => [run, state]))
  const lastStart = new Map(attempts.map(({ run, startNs }) => [run, startNs]))
  const granted = client.filter(
    (note): note is CancelNote => note.op === 'cancel' && note.phase === 'ok',
  )
  return granted.flatMap(({ run, state, atNs }) => {
    const end = states.get(run) ?? 'gone'
    const isKept = end === 'cancelled' || (state === 'cancelling' && end === 'succeeded')
    const isLate = state === 'cancelled' && (lastStart.get(run) ?? 0) > atNs
    if (isKept && !isLate) return []
    const detail = `was answered ${state}; it is ${end}${isLate ? ' and was started after that' : ''}`
    return [{ invariant: 'a cancel is not undone', subject: run, detail } as const]
  })
}
