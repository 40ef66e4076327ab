import { publicId } from '../../core/ids.ts'
import type {
  RunOrigin,
  RunQueries,
  RunRecord,
  ScheduleStore,
  TokenStore,
} from '../../store/port.ts'
import { type Actors, createActors } from '../identity/actors.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'

/**
 * The creator of each run, in order: the name of a token, or the schedule, backfill, workflow or
 * run that made it.
 */
export type RunCreators = (runs: readonly RunRecord[]) => Promise<readonly string[]>

export function createRunCreators({
  store,
  catalog,
}: {
  readonly store: Pick<RunQueries, 'originsOf'> &
    Pick<ScheduleStore, 'findSchedules'> &
    Pick<TokenStore, 'listTokens'>
  readonly catalog: Pick<CatalogCache, 'jobName' | 'learnNames'>
}): RunCreators {
  const nameOf = rememberNames(createActors(store))

  const schedulesOf = async (origins: readonly RunOrigin[]): Promise<Map<number, string>> => {
    const ids = [...new Set(origins.flatMap(({ scheduleId }) => scheduleId ?? []))]
    const found = ids.length === 0 ? [] : await store.findSchedules(ids)
    await catalog.learnNames(
      found.map(({ jobId }) => jobId),
      [],
    )
    return new Map(found.map(({ id, jobId, name }) => [id, `${catalog.jobName(jobId)}/${name}`]))
  }

  return async (runs) => {
    if (runs.length === 0) return []
    const origins = await store.originsOf({ runIds: runs.map(({ id }) => id) })
    const schedules = await schedulesOf(origins)
    const originOf = new Map(origins.map((origin) => [origin.runId, origin]))
    const names = await nameOf(runs.map(({ createdBy }) => createdBy))
    return runs.map(({ id }, index) => {
      const origin = originOf.get(id)
      return (origin && describe(origin, schedules)) ?? (names[index] as string)
    })
  }
}

function describe(
  { scheduleId, backfillId, afterRunId, workflowRunId }: RunOrigin,
  schedules: ReadonlyMap<number, string>,
): string | undefined {
  if (workflowRunId !== null) return `workflow ${publicId('run', workflowRunId)}`
  if (backfillId !== null) return `backfill ${publicId('bkf', backfillId)}`
  if (scheduleId !== null) {
    return `schedule ${schedules.get(scheduleId) ?? publicId('sch', scheduleId)}`
  }
  return afterRunId === null ? undefined : `after ${publicId('run', afterRunId)}`
}

/** Token names never change, so they are read again only for an unknown token. */
function rememberNames(actors: Actors) {
  const known = new Map<number | null, string>()
  return async (asked: readonly (number | null)[]): Promise<string[]> => {
    const missing = asked.filter((actor) => !known.has(actor))
    if (missing.length > 0) {
      const nameOf = await actors.names()
      for (const actor of missing) known.set(actor, nameOf(actor))
    }
    return asked.map((actor) => known.get(actor) as string)
  }
}
