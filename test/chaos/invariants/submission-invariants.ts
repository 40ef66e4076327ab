import type { DumpedRun, History, SubmitNote } from '../history.ts'
import type { Violation } from '../violation.ts'

/** An acknowledged run exists, a refused one does not, an unknown one may; and one key is never two runs. */
export function submissionInvariants({ client, dump }: History): Violation[] {
  const notes = client.filter((note) => note.op === 'submit')
  const byKey = Map.groupBy(notes, ({ key }) => key)
  const stored = Map.groupBy(dump.runs, ({ key }) => key)
  return [
    ...[...byKey].flatMap(([key, notes]) => judgeKey(key, notes, stored.get(key) ?? [])),
    ...[...stored.keys()]
      .filter((key) => !byKey.has(key))
      .map((key): Violation => ({
        invariant: 'a run was submitted',
        subject: key,
        detail: 'is in the database, and no client sent it',
      })),
  ]
}

function judgeKey(key: string, notes: readonly SubmitNote[], stored: readonly DumpedRun[]) {
  const violations: Violation[] = []
  const answered = new Set(notes.flatMap(({ run }) => (run === undefined ? [] : [run])))
  if (answered.size > 1 || stored.length > 1) {
    const runs = new Set([...answered, ...stored.map(({ run }) => run)])
    const detail = `led to ${[...runs].join(', ')}`
    violations.push({ invariant: 'a key is one run', subject: key, detail })
  }
  for (const run of answered) {
    if (stored.some((row) => row.run === run)) continue
    const detail = `was acknowledged as ${run}, which the database does not have`
    violations.push({ invariant: 'an acknowledged run exists', subject: key, detail })
  }
  const [row] = stored
  if (answered.size === 0 && row && isRefused(notes)) {
    const detail = `was refused each time, and the database has ${row.run}`
    violations.push({ invariant: 'a refused run does not exist', subject: key, detail })
  }
  return violations
}

/** Every call ended, and every end was a refusal. */
function isRefused(notes: readonly SubmitNote[]): boolean {
  const calls = Map.groupBy(notes, ({ call }) => call)
  return [...calls.values()].every((call) => call.some(({ phase }) => phase === 'fail'))
}
