import type { WireJob } from '../../core/job/job-views.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import { printJobWarnings } from './job-warnings.ts'
import { type Format, printList } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'
import type { PlannedJob } from './plan.ts'

interface Applied {
  readonly name: string
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'deleted' | 'failed'
  readonly message: string | null
}

/** Applies the plan, job by job. A refused job does not stop the others. */
export async function applyFiles(
  terminal: Terminal,
  format: Format,
  calls: ServerCalls,
  plan: readonly PlannedJob[],
): Promise<boolean> {
  const applied: Applied[] = []
  for (const job of plan) {
    applied.push(
      await applyOne(calls, job, (made) => printJobWarnings(terminal, withoutValues(made))),
    )
  }
  if (format === 'table') for (const one of applied) terminal.out(lineOf(terminal, one))
  else {
    printList(terminal, format, applied, { columns: [], empty: '', nameOf: ({ name }) => name })
  }
  return applied.some(({ outcome }) => outcome === 'failed')
}

/** Warnings about values were printed when the files were read. */
function withoutValues(job: WireJob): WireJob {
  return { ...job, warnings: job.warnings?.filter(({ code }) => code !== 'value_may_run') }
}

const OUTCOMES = {
  create: 'created',
  change: 'changed',
  same: 'unchanged',
  delete: 'deleted',
} as const

async function applyOne(
  calls: ServerCalls,
  job: PlannedJob,
  onMade: (made: WireJob) => void,
): Promise<Applied> {
  const { name, change, definition, version } = job
  const done = { name, outcome: OUTCOMES[change], message: null }
  if (change === 'same') return done
  // Conditional on the version that was planned: concurrent changes are not overwritten.
  const headers: Record<string, string> =
    version === null ? { 'if-none-match': '*' } : { 'if-match': `"${version}"` }
  try {
    if (change === 'delete') await calls.call('DELETE', jobPath(name), undefined, { headers })
    else onMade(await calls.call<WireJob>('PUT', jobPath(name), definition, { headers }))
    return done
  } catch (error) {
    if (!(error instanceof Failure) || !isAboutThis(error)) throw error
    return { name, outcome: 'failed', message: error.message }
  }
}

/** Errors about permissions or the connection would repeat with the next job. */
function isAboutThis({ exitCode }: Failure): boolean {
  return exitCode === EXIT.usage || exitCode === EXIT.conflict || exitCode === EXIT.notFound
}

function lineOf(terminal: Terminal, { name, outcome, message }: Applied): string {
  if (outcome !== 'failed') return `${paint(terminal, 'green', '✔')} ${name} ${outcome}\n`
  return `${paint(terminal, 'red', '✖')} ${name}: ${harmless(message ?? '')}\n`
}
