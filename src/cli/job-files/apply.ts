import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-schedule.ts'
import { type Format, printList } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'
import type { PlannedJob } from './plan.ts'

interface Applied {
  readonly name: string
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'deleted' | 'failed'
  readonly message: string | null
}

/** Does what was planned, job by job. What one is refused for does not stop the others. */
export async function applyFiles(
  terminal: Terminal,
  format: Format,
  calls: ServerCalls,
  plan: readonly PlannedJob[],
): Promise<boolean> {
  const applied: Applied[] = []
  for (const job of plan) applied.push(await applyOne(calls, job))
  if (format === 'table') for (const one of applied) terminal.out(lineOf(terminal, one))
  else {
    printList(terminal, format, applied, { columns: [], empty: '', nameOf: ({ name }) => name })
  }
  return applied.some(({ outcome }) => outcome === 'failed')
}

const OUTCOMES = {
  create: 'created',
  change: 'changed',
  same: 'unchanged',
  delete: 'deleted',
} as const

async function applyOne(calls: ServerCalls, job: PlannedJob): Promise<Applied> {
  const { name, change, definition, version } = job
  const done = { name, outcome: OUTCOMES[change], message: null }
  if (change === 'same') return done
  // Only what was looked at is changed: who came in between is not run over.
  const headers: Record<string, string> =
    version === null ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` }
  try {
    if (change === 'delete') await calls.call('DELETE', jobPath(name), undefined, { headers })
    else await calls.call('PUT', jobPath(name), definition, { headers })
    return done
  } catch (error) {
    if (!(error instanceof Failure) || !isAboutThis(error)) throw error
    return { name, outcome: 'failed', message: error.message }
  }
}

/** Whoever may not, or reaches nobody, need not try with the next one. */
function isAboutThis({ exitCode }: Failure): boolean {
  return exitCode === EXIT.usage || exitCode === EXIT.conflict || exitCode === EXIT.notFound
}

function lineOf(terminal: Terminal, { name, outcome, message }: Applied): string {
  if (outcome !== 'failed') return `${paint(terminal, 'green', '✔')} ${name} ${outcome}\n`
  return `${paint(terminal, 'red', '✖')} ${name}: ${harmless(message ?? '')}\n`
}
