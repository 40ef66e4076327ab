import { recordedAttempts } from './attempts.ts'
import type { Findings } from './checker.ts'
import type { InjectedFault, History } from './history.ts'

export interface Figures {
  readonly submitted: number
  readonly acknowledged: number
  readonly unknown: number
  readonly refused: number
  readonly attempts: number
  /** Attempts whose worker or node died. */
  readonly lost: number
  /** Reports that came too late to count. */
  readonly stale: number
  /** Overlaps caused by a frozen worker; the fence made them harmless. */
  readonly zombies: number
  readonly faults: Readonly<Record<string, number>>
  /** From a fault, or from the return of the database, to the first start of a run submitted since. */
  readonly recoveryP50Ms: number
  readonly recoveryMaxMs: number
}

const DISTURBING = new Set<InjectedFault['kind']>([
  'killed',
  'frozen',
  'database-up',
  'cut',
  'stalled',
])

export function figuresOf(history: History, findings: Findings): Figures {
  const { client, truth, faults, dump } = history
  const submits = Map.groupBy(
    client.filter((note) => note.op === 'submit'),
    ({ key }) => key,
  )
  const phases = [...submits.values()].map((notes) => new Set(notes.map(({ phase }) => phase)))
  const acknowledged = phases.filter((seen) => seen.has('ok')).length
  const refused = phases.filter((seen) => !seen.has('ok') && !seen.has('info')).length
  const recoveries = recoveriesMs(history)
  return {
    submitted: phases.length,
    acknowledged,
    refused,
    unknown: phases.length - acknowledged - refused,
    attempts: truth.filter(({ what }) => what === 'START').length,
    lost: [...dump.attempts, ...dump.runs].filter(({ cause }) => cause === 'lost').length,
    stale: truth.filter(({ what }) => what === 'STALE').length,
    zombies: findings.zombies,
    faults: countBy(faults.map(({ kind, target }) => (kind === 'cut' ? `cut ${target}` : kind))),
    recoveryP50Ms: recoveries[Math.floor(recoveries.length / 2)] ?? 0,
    recoveryMaxMs: recoveries.at(-1) ?? 0,
  }
}

/** For every fault, the time until a run submitted after it started; sorted. */
function recoveriesMs(history: History): number[] {
  const { client, faults, dump } = history
  const invokedNs = new Map<string, number>()
  for (const note of client) {
    if (note.op !== 'submit' || note.phase !== 'invoke' || note.traits?.dueNs) continue
    if (!invokedNs.has(note.key)) invokedNs.set(note.key, note.atNs)
  }
  const keys = new Map(dump.runs.map(({ run, key }) => [run, key]))
  const starts = recordedAttempts(history).map(({ run, startNs }) => ({
    startNs,
    invokedNs: invokedNs.get(keys.get(run) ?? '') ?? 0,
  }))
  return faults
    .filter(({ kind }) => DISTURBING.has(kind))
    .flatMap(({ atNs }) => {
      const first = starts.find((start) => start.invokedNs > atNs)
      return first ? [(first.startNs - atNs) / 1e6] : []
    })
    .toSorted((a, b) => a - b)
}

function countBy(kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
