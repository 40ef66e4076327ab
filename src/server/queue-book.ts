import type { LaneSpec } from '../core/lane.ts'
import type { Submission } from '../core/protocol.ts'
import type { QueueSetting, QueueStore } from '../store/port.ts'
import type { Catalog } from './catalog.ts'

/** The name under which a project speaks of all its queues. */
export const ALL_QUEUES = '*'

/** What was said about queues, as far as this node has heard. */
export interface QueueBook {
  /** Reads everything anew; true if what rests has changed. */
  refresh(): Promise<boolean>
  settingOf(project: string, queue: string): QueueSetting | undefined
  /** Queues of a project that something was said about. */
  namesIn(project: string): string[]
  /** Nothing may be claimed from this lane. */
  isResting(lane: Pick<LaneSpec, 'project' | 'queue'>): boolean
  /** How long an attempt of this run may take. */
  timeoutOf(project: string, run: Pick<Submission, 'queue' | 'timeoutMs'>): number | null
}

export function createQueueBook(
  store: Pick<QueueStore, 'listQueues'>,
  catalog: Pick<Catalog, 'learnNames' | 'projectName'>,
): QueueBook {
  let settings = new Map<string, QueueSetting>()
  let resting = ''

  const settingOf = (project: string, queue: string) => settings.get(`${project}/${queue}`)

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
      const before = resting
      resting = [...settings].flatMap(([key, { paused }]) => (paused ? [key] : [])).join(' ')
      return resting !== before
    },

    isResting({ project, queue }) {
      if (settings.size === 0) return false
      const isPaused = (name: string) => settingOf(project, name)?.paused === true
      return isPaused(queue) || isPaused(ALL_QUEUES)
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
