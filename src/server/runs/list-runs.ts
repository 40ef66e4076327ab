import { idAtMs } from '../../core/ids.ts'
import { matchesAny, type RunFilter } from '../../core/run/run-filter.ts'
import type { RunState } from '../../core/run/run-state.ts'
import type { RunQueries, RunRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'

/** Rows looked at for one page: a filter that fits nothing must come to an end all the same. */
const MOST_LOOKED_AT = 5_000
/** Ways of asking that are merged; beyond this, rows are sorted out by hand. */
const MOST_SOURCES = 16
const BATCH = 200

export interface ListedRuns {
  readonly runs: readonly RunRecord[]
  /** Where to go on: the page is full, or enough was looked at. Null at the end. */
  readonly before: number | null
}

interface Source {
  readonly state: RunState | null
  readonly jobId: number | null
  rows: RunRecord[]
  before: number
  isEmpty: boolean
}

/** Runs that fit a filter, newest first, below an id. */
export async function listRuns(
  input: { projectId: number; filter: RunFilter; before: number; limit: number },
  { store, catalog }: { store: Pick<RunQueries, 'listRuns'>; catalog: Catalog },
): Promise<ListedRuns> {
  const { projectId, filter, limit } = input
  const before = filter.until === null ? input.before : Math.min(input.before, idAtMs(filter.until))
  const oldest = filter.since === null ? 0 : idAtMs(filter.since)
  const sources = await sourcesOf(projectId, filter, before, catalog)
  const fill = async (source: Source) => {
    const { state, jobId } = source
    const size = Math.min(BATCH, Math.max(limit + 1, 20))
    const page = { before: source.before, limit: size, withoutSteps: !filter.steps }
    source.rows = [...(await store.listRuns({ projectId, state, jobId, ...page }))]
    source.before = source.rows.at(-1)?.id ?? 0
    source.isEmpty = source.rows.length < size
    await catalog.learnNames(
      source.rows.map((row) => row.jobId),
      [],
    )
  }

  const runs: RunRecord[] = []
  for (let looked = 0; ; looked += 1) {
    for (const source of sources) {
      if (source.rows.length === 0 && !source.isEmpty) await fill(source)
    }
    const next = newest(sources)
    if (!next || next.id < oldest) return { runs, before: null }
    if (runs.length === limit) return { runs, before: (runs.at(-1) as RunRecord).id }
    if (looked === MOST_LOOKED_AT) return { runs, before: next.id + 1 }
    for (const source of sources) if (source.rows[0] === next) source.rows.shift()
    if (await fits(next, filter, catalog)) runs.push(next)
  }
}

function newest(sources: readonly Source[]): RunRecord | undefined {
  let best: RunRecord | undefined
  for (const {
    rows: [first],
  } of sources)
    if (first && (!best || first.id > best.id)) best = first
  return best
}

async function sourcesOf(
  projectId: number,
  { states, jobs }: RunFilter,
  before: number,
  catalog: Catalog,
): Promise<Source[]> {
  const named = jobs?.every((job) => !job.includes('*')) ? jobs : null
  const jobIds = named
    ? (await Promise.all(named.map((job) => catalog.findJob(projectId, job)))).filter(
        (id) => id !== null,
      )
    : [null]
  const wanted = states ? [...states] : [null]
  const isMany = wanted.length * jobIds.length > MOST_SOURCES
  return (isMany ? [null] : wanted).flatMap((state) =>
    jobIds.map((jobId) => ({ state, jobId, rows: [], before, isEmpty: false })),
  )
}

/** What the store was not asked for is sorted out here. */
async function fits(run: RunRecord, filter: RunFilter, catalog: Catalog): Promise<boolean> {
  const { states, jobs, queues, workers, causes, tags } = filter
  if (states && !states.has(run.state)) return false
  if (!matchesAny(catalog.jobName(run.jobId), jobs)) return false
  if (workers && (run.worker === null || !matchesAny(run.worker, workers))) return false
  if (causes && (run.cause === null || !causes.has(run.cause))) return false
  if (queues && !matchesAny((await catalog.lane(run.laneId))?.queue ?? 'default', queues))
    return false
  if (tags.length === 0) return true
  const own = run.tags === null ? {} : (JSON.parse(run.tags) as Record<string, string>)
  return tags.every(({ name, values }) => {
    const value = Object.hasOwn(own, name) ? own[name] : undefined
    return value !== undefined && matchesAny(value, values)
  })
}
