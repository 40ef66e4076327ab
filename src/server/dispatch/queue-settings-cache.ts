import type { LaneSpec } from '../../core/queue/lane.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { Bucket, Rate } from '../../core/queue/rate.ts'
import type { QueueRecord, QueueStore } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import type { LaneRules } from './lane-index.ts'

/** The name under which a project speaks of all its queues. */
export const ALL_QUEUES = '*'

/** Whether a queue is paused, and by what; its rate and how much of it is used up. */
export interface Standing {
  readonly paused: 'queue' | 'project' | null
  readonly rate: { readonly rate: Rate; readonly bucket: Bucket } | null
}

/** What was said about queues, as far as this node has heard. */
export interface QueueBook {
  /** Reads everything anew. */
  refresh(): Promise<void>
  /** One text for everything `rulesOf` would say: another text, other rules. */
  readonly rules: string
  settingOf(project: string, queue: string): QueueRecord | undefined
  /** Queues of a project that something was said about. */
  namesIn(project: string): string[]
  /** Nothing may be claimed from this lane. */
  isResting(lane: Pick<LaneSpec, 'project' | 'queue'>): boolean
  /** What a node has to follow when it deals from this lane. */
  rulesOf(lane: Pick<LaneSpec, 'project' | 'queue'>): LaneRules
  /** What keeps a queue from being served, as the store knows it now. */
  standingOf(lane: Pick<LaneSpec, 'project' | 'queue'>): Promise<Standing>
  /** How long an attempt of this run may take. */
  timeoutOf(project: string, run: Pick<Submission, 'queue' | 'timeoutMs'>): number | null
}

export function createQueueBook(
  store: Pick<QueueStore, 'listQueues'>,
  catalog: Pick<Catalog, 'learnNames' | 'projectName'>,
): QueueBook {
  let settings = new Map<string, QueueRecord>()
  let rules = ''

  const settingOf = (project: string, queue: string) => settings.get(`${project}/${queue}`)

  const isResting = ({ project, queue }: Pick<LaneSpec, 'project' | 'queue'>) => {
    if (settings.size === 0) return false
    const isPaused = (name: string) => settingOf(project, name)?.paused === true
    return isPaused(queue) || isPaused(ALL_QUEUES)
  }

  const refresh = async () => {
    const list = await store.listQueues()
    await catalog.learnNames(
      [],
      list.map(({ projectId }) => projectId),
    )
    settings = new Map(
      list.map((one) => [`${catalog.projectName(one.projectId)}/${one.name}`, one]),
    )
    rules = JSON.stringify(Array.from(settings, ([key, { paused, rate }]) => [key, paused, rate]))
  }

  return {
    settingOf,
    namesIn: (project) =>
      [...settings.keys()].flatMap((key) =>
        key.startsWith(`${project}/`) ? [key.slice(project.length + 1)] : [],
      ),

    refresh,
    get rules() {
      return rules
    },
    isResting,

    rulesOf(lane) {
      const { projectId, rate = null } = settingOf(lane.project, lane.queue) ?? {}
      const isLimited = projectId !== undefined && rate !== null
      return {
        isResting: isResting(lane),
        rate: isLimited ? { projectId, queue: lane.queue } : null,
      }
    },

    async standingOf({ project, queue }) {
      await refresh()
      const { paused = false, rate = null, bucket } = settingOf(project, queue) ?? {}
      const isAllPaused = settingOf(project, ALL_QUEUES)?.paused === true
      return {
        paused: isAllPaused ? 'project' : paused ? 'queue' : null,
        rate: rate && bucket ? { rate, bucket } : null,
      }
    },

    timeoutOf(project, { queue = 'default', timeoutMs }) {
      if (settings.size === 0) return timeoutMs ?? null
      const { defaultTimeoutMs = null, maxTimeoutMs = null } = settingOf(project, queue) ?? {}
      const asked = timeoutMs ?? defaultTimeoutMs
      if (maxTimeoutMs === null) return asked
      return asked === null ? maxTimeoutMs : Math.min(asked, maxTimeoutMs)
    },
  }
}
