import type { RunState } from '../core/run/run-state.ts'
import type { RunRecord, RunSearch, RunSearchPage } from './port.ts'

/** Runs in a live state have no index ordered by id: up to this many are sorted for a page. */
export const MAX_SORTED_ROWS = 5_000
/** Sources that are merged into one page; a filter that names more scans the project instead. */
const MAX_SOURCES = 16
/** The first window is small, because most pages are full after a few rows; each next one is larger. */
const FIRST_WINDOW = 16
const WINDOW_GROWTH = 3

type EndedState = 'failed' | 'cancelled' | 'skipped'
export type LiveState = 'ready' | 'running' | 'scheduled' | 'blocked'

/** An index that yields the runs of a project in descending order of id. */
export type IndexSource =
  | { readonly by: 'project' }
  | { readonly by: 'job'; readonly jobId: number }
  | { readonly by: 'ended'; readonly state: EndedState; readonly jobId: number | null }
  | { readonly by: 'live'; readonly state: LiveState }
  | { readonly by: 'tag'; readonly name: string; readonly value: string }

/** Together these sources contain every run that can match. */
type Path = readonly IndexSource[]

/** What the search asks of its adapter, one query at a time. */
export type IndexQuery =
  /**
   * The id of the `window`-th newest row of the source below `before`; null if it has fewer rows.
   * A source that cannot be used answers with `before` itself.
   */
  | { readonly ask: 'floor'; readonly source: IndexSource; before: number; window: number }
  /** Rows of the source that match the whole filter, newest first, `from` <= id < `before`. */
  | {
      readonly ask: 'rows'
      readonly source: IndexSource
      before: number
      from: number
      limit: number
    }
export type IndexAnswer = number | null | readonly RunRecord[]
export type Search = Generator<IndexQuery, RunSearchPage, IndexAnswer>

/**
 * One page of a search, bounded in rows examined and in time. It works in windows: among all
 * indexes that could answer, it takes the one whose next rows reach back furthest, because that
 * index skips the most runs that cannot match. Both adapters answer the same queries.
 */
export function* searchRuns(
  input: RunSearch,
  { hasEndedByJob, isTimeUp }: { hasEndedByJob: boolean; isTimeUp: () => boolean },
): Search {
  const paths = pathsOf(input, hasEndedByJob)
  const found: RunRecord[] = []
  let { before } = input
  if (paths.length === 0 || before <= input.from) return { runs: found, before: null }
  for (const window of windowsOf(input.examine)) {
    const { path, floor } = yield* bestPath(paths, before, window)
    const from = Math.max(floor ?? 0, input.from)
    // One row more than the page holds: if it exists, another page follows.
    found.push(...(yield* rowsOf(path, { before, from, limit: input.limit + 1 - found.length })))
    if (found.length > input.limit) {
      const runs = found.slice(0, input.limit)
      return { runs, before: (runs.at(-1) as RunRecord).id }
    }
    if (floor === null || floor <= input.from) return { runs: found, before: null }
    before = floor
    if (isTimeUp()) break
  }
  return { runs: found, before }
}

function* windowsOf(examine: number): Generator<number> {
  let size = Math.max(1, Math.ceil(examine / FIRST_WINDOW))
  for (let left = examine; left > 0; left -= size, size *= WINDOW_GROWTH) yield Math.min(size, left)
}

function* bestPath(
  paths: readonly Path[],
  before: number,
  window: number,
): Generator<IndexQuery, { path: Path; floor: number | null }, IndexAnswer> {
  let best: { path: Path; floor: number | null } | undefined
  for (const path of paths) {
    let floor: number | null = null
    const share = Math.max(1, Math.floor(window / path.length))
    for (const source of path) {
      const answer = (yield { ask: 'floor', source, before, window: share }) as number | null
      // Below the floor of one source the page would lack that source's rows, so the highest floor
      // counts.
      if (answer !== null && (floor === null || answer > floor)) floor = answer
      if (best && floor !== null && floor >= (best.floor ?? -1)) break
    }
    if (!best || (floor ?? -1) < (best.floor ?? -1)) best = { path, floor }
    if (floor === null) break
  }
  return best as { path: Path; floor: number | null }
}

function* rowsOf(
  path: Path,
  range: { before: number; from: number; limit: number },
): Generator<IndexQuery, RunRecord[], IndexAnswer> {
  const rows = new Map<number, RunRecord>()
  for (const source of path) {
    const answer = (yield { ask: 'rows', source, ...range }) as readonly RunRecord[]
    for (const row of answer) rows.set(row.id, row)
  }
  const newest = [...rows.values()].toSorted((a, b) => b.id - a.id)
  return newest.slice(0, range.limit)
}

/** The most selective first: a search takes the first path that it can read to the end. */
function pathsOf(input: RunSearch, hasEndedByJob: boolean): Path[] {
  const { states, jobIds, tags } = input
  if (jobIds?.length === 0 || states?.length === 0) return []
  const paths: Path[] = tags
    .filter(({ values }) => values.every((value) => !value.includes('*')))
    .map(({ name, values }) => values.map((value) => ({ by: 'tag', name, value })))
  if (states) paths.push(...pathOfStates(states, hasEndedByJob ? jobIds : null))
  if (jobIds) paths.push(jobIds.map((jobId) => ({ by: 'job', jobId })))
  return [...paths.filter((path) => path.length <= MAX_SOURCES), [{ by: 'project' }]]
}

/** Most runs succeed, so success has no index of its own. */
function pathOfStates(states: readonly RunState[], jobIds: readonly number[] | null): Path[] {
  const path = states.flatMap((state): IndexSource[] => {
    switch (state) {
      case 'succeeded':
        return []
      case 'failed':
      case 'cancelled':
      case 'skipped':
        return (jobIds ?? [null]).map((jobId) => ({ by: 'ended', state, jobId }))
      default:
        return [{ by: 'live', state }]
    }
  })
  return states.includes('succeeded') ? [] : [path]
}
