import { laneKey, type Lane, type LaneSpec } from '../../core/queue/lane.ts'
import type { CatalogStore, SweepStore } from '../../store/port.ts'
import type { NodeSignals } from '../signals/signals.ts'

/** Cache of names and their ids: the hot path asks the store once per name. */
export interface CatalogCache {
  project(name: string): Promise<number>
  jobs(projectId: number, names: readonly string[]): Promise<readonly number[]>
  /** Read-only lookup: an unknown name is not created. */
  findProject(name: string): Promise<number | null>
  findJob(projectId: number, name: string): Promise<number | null>
  lanes(specs: readonly LaneSpec[]): Promise<readonly number[]>
  lane(id: number): Promise<Lane | undefined>
  gates(
    projectId: number,
    gates: readonly { key: string; limit: number }[],
  ): Promise<readonly number[]>
  /** Like `gates`, but synchronous; undefined if the store has to be read or changed. */
  knownGates(
    projectId: number,
    gates: readonly { key: string; limit: number }[],
  ): readonly number[] | undefined
  /** The cached gate; always present right after `gates` returned its id. */
  gateOf(id: number): { readonly key: string; readonly limit: number } | undefined
  jobName(id: number): string
  projectName(id: number): string
  /** Loads these names, so that `jobName` and `projectName` know them. */
  learnNames(jobIds: Iterable<number>, projectIds: Iterable<number>): Promise<void>
}

/** The lanes this node knows. */
export interface KnownLanes {
  /** Adds lanes; those it knows already stay as they are. */
  learn(lanes: readonly Lane[]): void
  get(laneId: number): { readonly lane: Lane } | undefined
}

/** A cache that reaches this size is cleared: names are cheap to ask for again, memory is not. */
const MEMO_LIMIT = 100_000

export function createCatalogCache(
  store: CatalogStore & Pick<SweepStore, 'recheck'>,
  laneIndex: KnownLanes,
  signals: Pick<NodeSignals, 'lanesReady' | 'lanesUnsure'>,
): CatalogCache {
  const projects = memo<string>()
  const jobs = memo<string>()
  const lanes = memo<string>()
  const jobNames = new Map<number, string>()
  const projectNames = new Map<number, string>()

  const catalog: CatalogCache = {
    async project(name) {
      const [id] = await projects.all([name], [name], store.internProjects.bind(store))
      projectNames.set(id as number, name)
      return id as number
    },

    async jobs(projectId, names) {
      const specs = names.map((name) => ({ projectId, name }))
      const keys = names.map((name) => `${projectId}/${name}`)
      const ids = await jobs.all(keys, specs, store.internJobs.bind(store))
      for (const [index, id] of ids.entries()) jobNames.set(id, names[index] as string)
      return ids
    },

    async findProject(name) {
      const known = projects.get(name)
      if (known !== undefined) return known
      const found = await store.findProject(name)
      if (found !== null) projects.set(name, found)
      return found
    },
    findJob: async (projectId, name) =>
      jobs.get(`${projectId}/${name}`) ?? store.findJob({ projectId, name }),

    async lanes(specs) {
      const keys = specs.map(laneKey)
      const ids = await lanes.all(keys, specs, store.internLanes.bind(store))
      const fresh = ids.flatMap((id, index) =>
        laneIndex.get(id) ? [] : [{ ...(specs[index] as LaneSpec), id }],
      )
      if (fresh.length > 0) {
        laneIndex.learn(fresh)
        // This node does not know what waits in the new lanes.
        signals.lanesUnsure()
      }
      return ids
    },

    async lane(id) {
      const known = laneIndex.get(id)
      if (known) return known.lane
      laneIndex.learn(await store.lanesAfter(id - 1))
      return laneIndex.get(id)?.lane
    },

    ...createGateCache(store, signals),

    jobName: (id) => jobNames.get(id) ?? `job ${id}`,
    projectName: (id) => projectNames.get(id) ?? `project ${id}`,

    async learnNames(jobIds, projectIds) {
      const unknownJobs = [...new Set(jobIds)].filter((id) => !jobNames.has(id))
      const unknownProjects = [...new Set(projectIds)].filter((id) => !projectNames.has(id))
      if (unknownJobs.length > 0) {
        for (const [id, name] of await store.jobNames(unknownJobs)) jobNames.set(id, name)
      }
      if (unknownProjects.length > 0) {
        for (const [id, name] of await store.projectNames(unknownProjects))
          projectNames.set(id, name)
      }
    },
  }
  return catalog
}

/** The gates of jobs, with the limits that this node wrote or read last. */
function createGateCache(
  store: Pick<CatalogStore, 'internGates'> & Pick<SweepStore, 'recheck'>,
  signals: Pick<NodeSignals, 'lanesReady'>,
): Pick<CatalogCache, 'gates' | 'knownGates' | 'gateOf'> {
  const gates = new Map<string, { id: number; limit: number; alone: readonly number[] }>()
  const gatesById = new Map<number, { key: string; limit: number }>()

  /** Writes changed limits to the store. A raised limit takes effect at once for waiting runs. */
  const writeLimits = async (
    projectId: number,
    wanted: readonly { key: string; limit: number }[],
  ): Promise<readonly number[]> => {
    const ids = await store.internGates(
      wanted.map(({ key, limit }) => ({ projectId, name: key, capacity: limit })),
    )
    if (gates.size > MEMO_LIMIT) {
      gates.clear()
      gatesById.clear()
    }
    const raised: number[] = []
    for (const [index, { key, limit }] of wanted.entries()) {
      const id = ids[index] as number
      const before = gates.get(`${projectId}/${key}`)?.limit
      if (before !== undefined && before < limit) raised.push(id)
      gates.set(`${projectId}/${key}`, { id, limit, alone: [id] })
      gatesById.set(id, { key, limit })
    }
    if (raised.length === 0) return ids
    const { lanes: refilled } = await store.recheck({ limit: 0, recheckMs: 0, gates: raised })
    // Runs that waited at a gate may start now.
    if (refilled.length > 0) signals.lanesReady(refilled)
    return ids
  }

  return {
    knownGates(projectId, wanted) {
      const known: { id: number; alone: readonly number[] }[] = []
      for (const { key, limit } of wanted) {
        const gate = gates.get(`${projectId}/${key}`)
        if (gate?.limit !== limit) return undefined
        known.push(gate)
      }
      // All runs at one gate share one list, so it crosses to the store thread only once.
      if (known.length === 1) return known[0]?.alone
      return [...new Set(known.map(({ id }) => id))].sort((a, b) => a - b)
    },

    async gates(projectId, wanted) {
      // The last limit written for a gate wins, so a limit that was changed in between is written
      // again.
      const ids = new Set<number>()
      const changed: { key: string; limit: number }[] = []
      for (const { key, limit } of wanted) {
        const known = gates.get(`${projectId}/${key}`)
        if (known?.limit === limit) ids.add(known.id)
        else changed.push({ key, limit })
      }
      if (changed.length > 0) for (const id of await writeLimits(projectId, changed)) ids.add(id)
      return [...ids].sort((a, b) => a - b)
    },

    gateOf: (id) => gatesById.get(id),
  }
}

function memo<Key>() {
  const known = new Map<Key, number>()
  return {
    get: (key: Key) => known.get(key),
    set: (key: Key, id: number) => void known.set(key, id),
    async all<Spec>(
      keys: readonly Key[],
      specs: readonly Spec[],
      intern: (specs: readonly Spec[]) => Promise<readonly number[]>,
    ): Promise<number[]> {
      const missing = new Map<Key, Spec>()
      for (const [index, key] of keys.entries()) {
        if (!known.has(key)) missing.set(key, specs[index] as Spec)
      }
      if (missing.size > 0) {
        if (known.size > MEMO_LIMIT) known.clear()
        const ids = await intern([...missing.values()])
        for (const [index, key] of [...missing.keys()].entries())
          known.set(key, ids[index] as number)
      }
      return keys.map((key) => known.get(key) as number)
    },
  }
}
