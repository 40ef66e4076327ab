import type { Attempt } from '../attempts.ts'
import type { CancelNote, History } from '../history.ts'
import type { Violation } from '../violation.ts'

/** Who was told `cancelled` sees no start after it; who was told `cancelling` sees one of two ends. */
export function cancelLaws({ client, dump }: History, attempts: readonly Attempt[]): Violation[] {
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
    const detail = `was said to be ${state}; it is ${end}${isLate ? ' and was started after that' : ''}`
    return [{ law: 'a cancel is not undone', subject: run, detail } as const]
  })
}
