import type { DumpedRun, History } from '../history.ts'
import type { Violation } from '../violation.ts'

const FINAL = new Set(['succeeded', 'failed', 'cancelled', 'skipped'])

/** Every run ended exactly once, and its state is the recorded end. */
export function runEndInvariants({ dump }: Pick<History, 'dump'>): Violation[] {
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
        invariant: 'no work remains',
        subject: table,
        detail: `still has ${count} rows`,
      })),
  ]
}

function judgeRun({ run, state }: DumpedRun, ends: readonly string[]): Violation[] {
  if (!FINAL.has(state)) {
    return [
      { invariant: 'a run ends', subject: run, detail: `is ${state} after everything healed` },
    ]
  }
  if (ends.length === 1 && ends[0] === state) return []
  const detail = `is ${state} and was ended ${ends.length} times (${ends.join(', ')})`
  return [{ invariant: 'a run ends once', subject: run, detail }]
}
