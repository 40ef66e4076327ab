import type { LaneSpec } from '../core/lane.ts'
import type { Submission } from '../core/protocol.ts'
import type { QueueRecord, QueueStore } from '../store/port.ts'
import type { Catalog } from './catalog.ts'
import type { LaneRules } from './tick/lane-board.ts'

/** The name under which a project speaks of all its queues. */
export const ALL_QUEUES = '*'

/** What was said about queues, as far as this node has heard. */
export interface QueueBook {
  /** Reads everything anew; true if the rules of lanes have changed. */
  refresh(): Promise<boolean>
  settingOf(project: string, queue: string): QueueRecord | undefined
  /** Queues of a project that something was said about. */
  namesIn(project: string): string[]
  /** Nothing may be claimed from this lane. */
  isResting(lane: Pick<LaneSpec, 'project' | 'queue'>): boolean
  /** What a node has to follow when it deals from this lane. */
  rulesOf(lane: Pick<LaneSpec, 'project' | 'queue'>): LaneRules
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

  return {
    settingOf,
    namesIn: (project) =>
      [...settings.keys()].flatMap((key) =>
        key.startsWith(`${project}/`) ? [key.slice(project.length + 1)] : [],
      ),

    async refresh() {
      const list = await store.listQueues()
      await catalog.learnNames(
        [],
        list.map(({ projectId }) => projectId),
      )
      settings = new Map(
        list.map((one) => [`${catalog.projectName(one.projectId)}/${one.name}`, one]),
      )
      const before = rules
      rules = JSON.stringify(Array.from(settings, ([key, { paused, rate }]) => [key, paused, rate]))
      return rules !== before
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

    timeoutOf(project, { queue = 'default', timeoutMs }) {
      if (settings.size === 0) return timeoutMs ?? null
      const { defaultTimeoutMs = null, maxTimeoutMs = null } = settingOf(project, queue) ?? {}
      const asked = timeoutMs ?? defaultTimeoutMs
      if (maxTimeoutMs === null) return asked
      return asked === null ? maxTimeoutMs : Math.min(asked, maxTimeoutMs)
    },
  }
}
