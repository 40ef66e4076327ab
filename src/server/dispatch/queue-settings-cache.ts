import type { LaneSpec } from '../../core/queue/lane.ts'
import type { Submission } from '../../core/wire/protocol.ts'
import type { Bucket, Rate } from '../../core/queue/rate.ts'
import type { QueueRecord, QueueStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import type { LaneRules } from './lanes/lane-hint.ts'

/** Stands for all queues of a project. */
export const ALL_QUEUES = '*'

/** Whether a queue is paused, and by what; its rate and how much of it is used. */
export interface QueueStatus {
  readonly paused: 'queue' | 'project' | null
  readonly rate: { readonly rate: Rate; readonly bucket: Bucket } | null
}

/** Queue settings as far as this node knows them. */
export interface QueueSettingsCache {
  /** Reads all settings again. */
  refresh(): Promise<void>
  /** A digest of all results of `rulesOf`: it changes whenever a rule changes. */
  readonly rules: string
  settingOf(project: string, queue: string): QueueRecord | undefined
  /** Queues of a project that have settings. */
  namesIn(project: string): string[]
  /** Whether this lane is paused, so nothing may be claimed from it. */
  isPaused(lane: Pick<LaneSpec, 'project' | 'queue'>): boolean
  /** The rules for assigning runs of this lane. */
  rulesOf(lane: Pick<LaneSpec, 'project' | 'queue'>): LaneRules
  /** Why a queue is not served, as the store knows it now. */
  statusOf(lane: Pick<LaneSpec, 'project' | 'queue'>): Promise<QueueStatus>
  /** How long an attempt of this run may take. */
  timeoutOf(project: string, run: Pick<Submission, 'queue' | 'timeoutMs'>): number | null
}

export function createQueueSettingsCache(
  store: Pick<QueueStore, 'listQueues'>,
  catalog: Pick<CatalogCache, 'learnNames' | 'projectName'>,
): QueueSettingsCache {
  let settings = new Map<string, QueueRecord>()
  let rules = ''

  const settingOf = (project: string, queue: string) => settings.get(`${project}/${queue}`)

  const isPaused = ({ project, queue }: Pick<LaneSpec, 'project' | 'queue'>) => {
    if (settings.size === 0) return false
    const isNamePaused = (name: string) => settingOf(project, name)?.paused === true
    return isNamePaused(queue) || isNamePaused(ALL_QUEUES)
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
    isPaused,

    rulesOf(lane) {
      const { projectId, rate = null } = settingOf(lane.project, lane.queue) ?? {}
      const isLimited = projectId !== undefined && rate !== null
      return {
        isPaused: isPaused(lane),
        rate: isLimited ? { projectId, queue: lane.queue } : null,
      }
    },

    async statusOf({ project, queue }) {
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
