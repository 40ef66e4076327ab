import { MAX_ID_LEAD_MS, idAtMs, msOfId } from '../../core/ids.ts'
import type { RunFilter } from '../../core/run/run-filter.ts'
import type { RunSearchPage } from '../../store/port.ts'

/**
 * The cursor that starts the section of future runs. No id is as high, and it differs from the
 * start of the first page.
 */
const BEGIN_AHEAD = Number.MAX_SAFE_INTEGER - 1

type List = (input: { filter: RunFilter; before: number; limit: number }) => Promise<RunSearchPage>

/**
 * Lists runs newest first, but puts runs with future ids last. Such ids were minted while a clock
 * was ahead; they would otherwise stay in front of every new run until the clock catches up. The
 * boundary is fixed on the first page of a walk: by the last page, part of that future may be past.
 */
export async function listFutureRunsLast(
  list: List,
  { filter, limit }: Pick<Parameters<List>[0], 'filter' | 'limit'>,
  { before, aheadFrom }: { before: number; aheadFrom: number },
): Promise<RunSearchPage> {
  const isFirst = before === Number.MAX_SAFE_INTEGER
  const listAhead = (from: number, most: number) => {
    const since = Math.max(filter.since ?? 0, msOfId(aheadFrom))
    return list({ filter: { ...filter, since }, before: from, limit: most })
  }
  if (!isFirst && before >= aheadFrom) return listAhead(before, limit)
  const page = await list({ filter, before: Math.min(before, aheadFrom), limit })
  if (page.before !== null) return page
  const remaining = limit - page.runs.length
  if (remaining === 0) return { runs: page.runs, before: BEGIN_AHEAD }
  const rest = await listAhead(BEGIN_AHEAD, remaining)
  return { runs: [...page.runs, ...rest.runs], before: rest.before }
}

/** The first id that lies in the future at this time. */
export function futureIdsFrom(now: number): number {
  return idAtMs(now + MAX_ID_LEAD_MS)
}
