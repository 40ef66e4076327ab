import { laneKey, type Lane, type LaneSpec } from '../../core/queue/lane.ts'
import type { CatalogStore, SweepStore } from '../../store/port.ts'
import type { LaneBoard } from '../dispatch/lane-index.ts'

/** Names and the numbers they became, remembered: the hot path asks the store once per name. */
export interface Catalog {
  project(name: string): Promise<number>
  jobs(projectId: number, names: readonly string[]): Promise<readonly number[]>
  /** For reading: a name nobody used yet is not created by asking for it. */
  findProject(name: string): Promise<number | null>
  findJob(projectId: number, name: string): Promise<number | null>
  lanes(specs: readonly LaneSpec[]): Promise<readonly number[]>
  lane(id: number): Promise<Lane | undefined>
  gates(
    projectId: number,
    gates: readonly { key: string; limit: number }[],
  ): Promise<readonly number[]>
  /** The same at once, if nothing has to be looked up or said. */
  knownGates(
    projectId: number,
    gates: readonly { key: string; limit: number }[],
  ): readonly number[] | undefined
  /** What is known of a gate, which is something for those that were just asked for. */
  gateOf(id: number): { readonly key: string; readonly limit: number } | undefined
  jobName(id: number): string
  projectName(id: number): string
  /** Makes sure these names are at hand for `jobName` and `projectName`. */
  learnNames(jobIds: Iterable<number>, projectIds: Iterable<number>): Promise<void>
}

/** Beyond this a cache starts over: names are cheap to ask for again, memory is not. */
const MEMO_LIMIT = 100_000

export function createCatalog(
  store: CatalogStore & Pick<SweepStore, 'recheck'>,
  board: LaneBoard,
  hear: {
    /** Runs that waited may start now. */
    onReady(lanes: readonly number[]): void
    /** Lanes of which this node does not know what stands in them. */
    onNewLanes(): void
  },
): Catalog {
  const projects = memo<string>()
  const jobs = memo<string>()
  const lanes = memo<string>()
  const gates = new Map<string, { id: number; limit: number; alone: readonly number[] }>()
  const gatesById = new Map<number, { key: string; limit: number }>()
  const jobNames = new Map<number, string>()
  const projectNames = new Map<number, string>()

  /** A limit that was raised is felt at once by those who wait. */
  const sayLimits = async (
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
    if (refilled.length > 0) hear.onReady(refilled)
    return ids
  }

  const catalog: Catalog = {
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

    findProject: async (name) => projects.get(name) ?? store.findProject(name),
    findJob: async (projectId, name) =>
      jobs.get(`${projectId}/${name}`) ?? store.findJob({ projectId, name }),

    async lanes(specs) {
      const keys = specs.map(laneKey)
      const ids = await lanes.all(keys, specs, store.internLanes.bind(store))
      const fresh = ids.flatMap((id, index) =>
        board.get(id) ? [] : [{ ...(specs[index] as LaneSpec), id }],
      )
      if (fresh.length > 0) {
        board.learn(fresh)
        hear.onNewLanes()
      }
      return ids
    },

    async lane(id) {
      const known = board.get(id)
      if (known) return known.lane
      board.learn(await store.lanesAfter(id - 1))
      return board.get(id)?.lane
    },

    knownGates(projectId, wanted) {
      const known: { id: number; alone: readonly number[] }[] = []
      for (const { key, limit } of wanted) {
        const gate = gates.get(`${projectId}/${key}`)
        if (gate?.limit !== limit) return undefined
        known.push(gate)
      }
      // One list for all runs at a gate: what is the same crosses to the store's thread only once.
      if (known.length === 1) return known[0]?.alone
      return [...new Set(known.map(({ id }) => id))].sort((a, b) => a - b)
    },

    async gates(projectId, wanted) {
      // The latest word about a limit counts, so one that was said before and changed since is said again.
      const ids = new Set<number>()
      const changed: { key: string; limit: number }[] = []
      for (const { key, limit } of wanted) {
        const known = gates.get(`${projectId}/${key}`)
        if (known?.limit === limit) ids.add(known.id)
        else changed.push({ key, limit })
      }
      if (changed.length > 0) for (const id of await sayLimits(projectId, changed)) ids.add(id)
      return [...ids].sort((a, b) => a - b)
    },

    gateOf: (id) => gatesById.get(id),
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

function memo<Key>() {
  const known = new Map<Key, number>()
  return {
    get: (key: Key) => known.get(key),
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
