import { encodeDefinition, type JobDefinition, schedulesIn } from '../../core/job/job-definition.ts'
import type { WirePreview, WireSchedule } from '../../core/schedule/definition/schedule-views.ts'
import type { WireJob } from '../../core/job/job-views.ts'
import type { WireRunPage } from '../../core/wire/runs.ts'
import { everyPage } from '../find/every-page.ts'
import { Failure } from '../errors/failure.ts'
import { jobPath } from '../find/find-job.ts'
import { type Format, printList } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, paint, type Terminal } from '../terminal/terminal.ts'
import { describeTriggers } from '../render/describe-triggers.ts'
import { type Change, changesBetween, showChange } from './changes.ts'
import { counted } from './counted.ts'
import type { JobOfFile } from './read-files.ts'
import type { Source } from './source-name.ts'

/** The planned change of one job. */
export interface PlannedJob {
  readonly name: string
  readonly change: 'create' | 'change' | 'same' | 'delete'
  /** Null if there is no file. */
  readonly definition: JobDefinition | null
  /** The current version, which the change is based on; null if there is none. */
  readonly version: number | null
  readonly changes: readonly Change[]
  /** Waiting and running runs: each keeps the version it was created with. */
  readonly keeping: readonly VersionUsage[]
  readonly moves: readonly FireTimeChange[]
  /** Schedules of the job that no file declares: `apply` does not change them. */
  readonly left: readonly UndeclaredSchedule[]
  /** Undeclared schedules that a schedule of the file would replace: `apply` is refused. */
  readonly conflicts: readonly UndeclaredSchedule[]
}

interface UndeclaredSchedule {
  readonly schedule: string
  readonly words: string
}

interface VersionUsage {
  readonly version: number | null
  readonly runs: number
}

/** When a schedule fires next now, and when it would after the change. */
interface FireTimeChange {
  readonly schedule: string
  readonly from: string | null
  readonly to: string | null
}

const MOST_JOBS = 100_000
const MOST_RUNS = 500

/** Compares files with the server without changing anything. */
export async function planFiles(
  calls: ServerCalls,
  jobs: readonly JobOfFile[],
  options: {
    readonly prune: boolean
    readonly source: Source | undefined
    /**
     * Jobs without a file that may belong to this folder, or to another one with the same name:
     * they stay.
     */
    onOlder(older: string, names: readonly string[]): void
  },
): Promise<PlannedJob[]> {
  const { prune, source: { name: source, legacyName: older } = {} } = options
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

export function deletedIn(plan: readonly PlannedJob[]): ReadonlySet<string> {
  return new Set(plan.filter(({ change }) => change === 'delete').map(({ name }) => name))
}

const NOTHING = {
  definition: null,
  changes: [],
  moves: [],
  keeping: [],
  left: [],
  conflicts: [],
} as const

async function planJob(
  calls: ServerCalls,
  { name, definition: declared }: JobOfFile,
  source: string | undefined,
): Promise<PlannedJob> {
  const there = await findJob(calls, name)
  // A single file does not determine which folder owns the job.
  const owner = source ?? there?.definition.source
  const definition = owner === undefined ? declared : { ...declared, source: owner }
  const base = { ...NOTHING, name, definition }
  if (!there) return { ...base, change: 'create', version: null }
  const { version } = there
  const left = schedulesLeft(there, definition)
  if (encodeDefinition(there.definition) === encodeDefinition(definition)) {
    return { ...base, change: 'same', version, left }
  }
  const { moves, conflicts } = await compareSchedules(calls, there, definition)
  return {
    ...base,
    change: 'change',
    version,
    left,
    moves,
    conflicts,
    changes: changesBetween(there.definition, definition),
    keeping: await keepingOf(calls, name),
  }
}

/** Schedules created with `every` or through the API that no schedule of the file replaces. */
function schedulesLeft({ schedules = [] }: WireJob, next: JobDefinition): UndeclaredSchedule[] {
  const declared = new Set(schedulesIn(next).map(({ name }) => name))
  return schedules
    .filter((one) => !one.declared && !declared.has(one.name))
    .map(({ name, words }) => ({ schedule: name, words }))
}

async function findJob(calls: ServerCalls, name: string): Promise<WireJob | null> {
  try {
    return await calls.call<WireJob>('GET', jobPath(name))
  } catch (error) {
    if (error instanceof Failure && error.code === 'job_not_found') return null
    throw error
  }
}

async function keepingOf(calls: ServerCalls, name: string): Promise<VersionUsage[]> {
  const query = new URLSearchParams({ job: name, q: 'state:live', limit: String(MOST_RUNS) })
  const { data } = await calls.call<WireRunPage>('GET', `/v1/runs?${query.toString()}`)
  const byVersion = Map.groupBy(data, ({ version }) => version)
  return Array.from(byVersion, ([version, { length }]) => ({ version, runs: length })).toSorted(
    (a, b) => (b.version ?? 0) - (a.version ?? 0),
  )
}

/** `moves` lists only schedules whose next time changes. */
async function compareSchedules(
  calls: ServerCalls,
  { schedules = [] }: WireJob,
  next: JobDefinition,
): Promise<Pick<PlannedJob, 'moves' | 'conflicts'>> {
  const before = new Map<string, WireSchedule>(schedules.map((one) => [one.name, one]))
  const moves: FireTimeChange[] = []
  const conflicts: UndeclaredSchedule[] = []
  for (const { name, definition } of schedulesIn(next)) {
    const body = { ...definition, count: 1 }
    const preview = await calls.call<WirePreview>('POST', '/v1/schedules/preview', body, {
      isRead: true,
    })
    const there = before.get(name)
    before.delete(name)
    if (there?.declared === false && there.words !== preview.words) {
      conflicts.push({ schedule: name, words: there.words })
      continue
    }
    const from = there?.next ?? null
    const to = preview.next[0]?.at ?? null
    if (from !== to) moves.push({ schedule: name, from, to })
  }
  const gone = Array.from(before.values()).filter(({ declared }) => declared)
  const ended = gone.map(({ name, next: from }) => ({ schedule: name, from, to: null }))
  return { moves: [...moves, ...ended], conflicts }
}

const MARKS = { create: '+', change: '~', same: '=', delete: '-' } as const
const COLOURS = { create: 'green', change: 'yellow', same: 'grey', delete: 'red' } as const

export function showPlan(terminal: Terminal, format: Format, plan: readonly PlannedJob[]): void {
  if (format !== 'table') {
    const rows = plan.map(({ definition: _, ...row }) => row)
    return printList(terminal, format, rows, { columns: [], empty: '', nameOf: ({ name }) => name })
  }
  for (const job of plan) terminal.out(`${linesOf(terminal, job).join('\n')}\n`)
  terminal.err(`${planSummary(plan)}\n`)
}

function linesOf(terminal: Terminal, job: PlannedJob): string[] {
  const { name, change, changes, moves, keeping, left, conflicts } = job
  const title = `${MARKS[change]} ${name}${change === 'same' ? '' : `  ${change}`}`
  const isMore = keeping.reduce((sum, { runs }) => sum + runs, 0) === MOST_RUNS
  return [
    paint(terminal, COLOURS[change], title),
    ...changes.map((one) => `    ${harmless(showChange(one))}`),
    ...moves.map(({ schedule, from, to }) => {
      return `  schedule ${schedule}: next run ${from ?? 'never'} → ${to ?? 'never'}`
    }),
    ...left.flatMap(({ schedule, words }) => [
      `  schedule ${schedule} (${harmless(words)}) is not of this file: left alone`,
      `    to delete it: punctual schedules rm ${name}/${schedule}`,
    ]),
    ...conflicts.flatMap(({ schedule, words }) => [
      `  schedule ${schedule} (${harmless(words)}) is not of this file, and has the same name: apply is refused`,
      `    name the one of the file otherwise, or delete it: punctual schedules rm ${name}/${schedule}`,
    ]),
    ...startsOf(job).map((start) => `  runs ${harmless(start)}`),
    ...keeping.map(({ version, runs }) => {
      const many = `${counted(runs, 'run')}${isMore ? ' or more' : ''}`
      const what = version === null ? 'what it was submitted with' : `version ${version}`
      return `  ${many} ${runs === 1 && !isMore ? 'keeps' : 'keep'} ${what}`
    }),
  ]
}

/** Only where the triggers are new. */
function startsOf({ change, changes, definition }: PlannedJob): string[] {
  const isNew = change === 'create' || changes.some(({ field }) => field.startsWith('triggers'))
  return isNew && definition ? describeTriggers(definition) : []
}

export function planSummary(plan: readonly PlannedJob[]): string {
  const of = (change: PlannedJob['change']) => plan.filter((job) => job.change === change).length
  return `${of('create')} to create, ${of('change')} to change, ${of('delete')} to delete, ${of('same')} unchanged`
}
