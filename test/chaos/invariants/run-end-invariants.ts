import type { DumpedRun, History } from '../history.ts'
import type { Violation } from '../violation.ts'

const FINAL = new Set(['succeeded', 'failed', 'cancelled', 'skipped'])

/** Every run came to exactly one end, and the end it has is the one that was recorded. */
export function endingLaws({ dump }: Pick<History, 'dump'>): Violation[] {
  const ends = Map.groupBy(dump.ends, ({ run }) => run)
  return [
    ...dump.runs.flatMap((run) =>
      judgeRun(
        run,
        (ends.get(run.run) ?? []).map((end) => end.state),
      ),
    ),
    ...Object.entries(dump.leftovers)
      .filter(([, count]) => count > 0)
      .map(([table, count]): Violation => ({
        law: 'nothing is left over',
        subject: table,
        detail: `still has ${count} rows`,
      })),
  ]
}

function judgeRun({ run, state }: DumpedRun, ends: readonly string[]): Violation[] {
  if (!FINAL.has(state)) {
    return [{ law: 'a run ends', subject: run, detail: `is ${state} after everything healed` }]
  }
  if (ends.length === 1 && ends[0] === state) return []
  const detail = `is ${state} and was ended ${ends.length} times (${ends.join(', ')})`
  return [{ law: 'a run ends once', subject: run, detail }]
}
