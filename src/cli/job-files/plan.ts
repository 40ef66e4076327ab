import { encodeDefinition, type JobDefinition, schedulesIn } from '../../core/job/job-definition.ts'
import type { WirePreview, WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/wire/views.ts'
import type { WireRunPage } from '../../core/wire/runs.ts'
import { everyPage } from '../find/every-page.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-schedule.ts'
import { type Format, printList } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'
import { whatStarts } from '../render/describe-triggers.ts'
import { type Change, changesBetween, showChange } from './changes.ts'
import { counted } from './counted.ts'
import type { JobOfFile } from './read-files.ts'
import type { Source } from './source-name.ts'

/** What would become of one job. */
export interface PlannedJob {
  readonly name: string
  readonly change: 'create' | 'change' | 'same' | 'delete'
  /** Null where there is no file. */
  readonly definition: JobDefinition | null
  /** The version in force, which the change is about; null if there is none. */
  readonly version: number | null
  readonly changes: readonly Change[]
  /** Runs that wait or are under way: each stays with the version it was made of. */
  readonly keeping: readonly Keeping[]
  readonly moves: readonly Move[]
}

interface Keeping {
  readonly version: number | null
  readonly runs: number
}

/** When a schedule fires next, and when it would. */
interface Move {
  readonly schedule: string
  readonly from: string | null
  readonly to: string | null
}

const MOST_JOBS = 100_000
const MOST_RUNS = 500

/** Compares files with the server, and changes nothing. */
export async function planFiles(
  calls: ServerCalls,
  jobs: readonly JobOfFile[],
  options: {
    readonly prune: boolean
    readonly source: Source | undefined
    /** Jobs without a file that may be this folder's, or another's of the same name: those stay. */
    onOlder(older: string, names: readonly string[]): void
  },
): Promise<PlannedJob[]> {
  const { prune, source: { name: source, older } = {} } = options
  const planned: PlannedJob[] = []
  for (const job of jobs) planned.push(await planJob(calls, job, source))
  if (!prune) return planned
  const named = new Set(jobs.map(({ name }) => name))
  const there = await everyPage<WireJob>(calls, '/v1/jobs?', MOST_JOBS)
  const left = there.filter(({ name }) => !named.has(name))
  const orphans = left.filter(({ definition }) => definition.source === source)
  const doubtful = left.filter(({ definition }) => definition.source === older)
  if (older !== undefined && doubtful.length > 0) {
    options.onOlder(
      older,
      doubtful.map(({ name }) => name),
    )
  }
  for (const { name, version } of orphans) {
    const keeping = await keepingOf(calls, name)
    planned.push({ ...NOTHING, name, change: 'delete', version, keeping })
  }
  return planned
}

const NOTHING = { definition: null, changes: [], moves: [], keeping: [] } as const

async function planJob(
  calls: ServerCalls,
  { name, definition: said }: JobOfFile,
  source: string | undefined,
): Promise<PlannedJob> {
  const there = await findJob(calls, name)
  // A file by itself says nothing about whose it is.
  const owner = source ?? there?.definition.source
  const definition = owner === undefined ? said : { ...said, source: owner }
  const base = { ...NOTHING, name, definition }
  if (!there) return { ...base, change: 'create', version: null }
  const { version } = there
  if (encodeDefinition(there.definition) === encodeDefinition(definition)) {
    return { ...base, change: 'same', version }
  }
  return {
    ...{ ...base, change: 'change', version },
    changes: changesBetween(there.definition, definition),
    moves: await movesOf(calls, there, definition),
    keeping: await keepingOf(calls, name),
  }
}

async function findJob(calls: ServerCalls, name: string): Promise<WireJob | null> {
  try {
    return await calls.call<WireJob>('GET', jobPath(name))
  } catch (error) {
    if (error instanceof Failure && error.code === 'job_not_found') return null
    throw error
  }
}

async function keepingOf(calls: ServerCalls, name: string): Promise<Keeping[]> {
  const query = new URLSearchParams({ job: name, q: 'state:live', limit: String(MOST_RUNS) })
  const { data } = await calls.call<WireRunPage>('GET', `/v1/runs?${query.toString()}`)
  const byVersion = Map.groupBy(data, ({ version }) => version)
  return Array.from(byVersion, ([version, { length }]) => ({ version, runs: length })).toSorted(
    (a, b) => (b.version ?? 0) - (a.version ?? 0),
  )
}

/** Only of schedules that would fire at another time. */
async function movesOf(calls: ServerCalls, there: WireJob, next: JobDefinition): Promise<Move[]> {
  const declared = (there.schedules ?? []).filter((schedule) => schedule.declared)
  const now = new Map<string, WireSchedule>(declared.map((schedule) => [schedule.name, schedule]))
  const moves: Move[] = []
  for (const { name, definition } of schedulesIn(next)) {
    const body = { ...definition, count: 1 }
    const preview = await calls.call<WirePreview>('POST', '/v1/schedules/preview', body)
    const from = now.get(name)?.next ?? null
    const to = preview.next[0]?.at ?? null
    now.delete(name)
    if (from !== to) moves.push({ schedule: name, from, to })
  }
  return [...moves, ...[...now].map(([schedule, { next: from }]) => ({ schedule, from, to: null }))]
}

const MARKS = { create: '+', change: '~', same: '=', delete: '-' } as const
const COLOURS = { create: 'green', change: 'yellow', same: 'grey', delete: 'red' } as const

export function showPlan(terminal: Terminal, format: Format, plan: readonly PlannedJob[]): void {
  if (format !== 'table') {
    const rows = plan.map(({ definition: _, ...row }) => row)
    return printList(terminal, format, rows, { columns: [], empty: '', nameOf: ({ name }) => name })
  }
  for (const job of plan) terminal.out(`${linesOf(terminal, job).join('\n')}\n`)
  terminal.err(`${summaryOf(plan)}\n`)
}

function linesOf(terminal: Terminal, job: PlannedJob): string[] {
  const { name, change, changes, moves, keeping } = job
  const title = `${MARKS[change]} ${name}${change === 'same' ? '' : `  ${change}`}`
  const isMore = keeping.reduce((sum, { runs }) => sum + runs, 0) === MOST_RUNS
  return [
    paint(terminal, COLOURS[change], title),
    ...changes.map((one) => `    ${harmless(showChange(one))}`),
    ...moves.map(({ schedule, from, to }) => {
      return `  schedule ${schedule}: next run ${from ?? 'never'} → ${to ?? 'never'}`
    }),
    ...startsOf(job).map((start) => `  runs ${harmless(start)}`),
    ...keeping.map(({ version, runs }) => {
      const many = `${counted(runs, 'run')}${isMore ? ' or more' : ''}`
      const what = version === null ? 'what it was submitted with' : `version ${version}`
      return `  ${many} ${runs === 1 && !isMore ? 'keeps' : 'keep'} ${what}`
    }),
  ]
}

/** Only where that is new. */
function startsOf({ change, changes, definition }: PlannedJob): string[] {
  const isNew = change === 'create' || changes.some(({ field }) => field.startsWith('triggers'))
  return isNew && definition ? whatStarts(definition) : []
}

export function summaryOf(plan: readonly PlannedJob[]): string {
  const of = (change: PlannedJob['change']) => plan.filter((job) => job.change === change).length
  return `${of('create')} to create, ${of('change')} to change, ${of('delete')} to delete, ${of('same')} unchanged`
}
