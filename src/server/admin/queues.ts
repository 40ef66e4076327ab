import type { Rate } from '../../core/queue/rate.ts'
import type { WireQueue } from '../../core/wire/views.ts'
import type { QueueSetting, QueueStore } from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { ALL_QUEUES, type QueueSettingsCache } from '../dispatch/queue-settings-cache.ts'
import type { LaneIndex } from '../dispatch/lanes/lane-index.ts'
import { auditEntryFor, type RequestedBy } from '../identity/requested-by.ts'
import type { WorkerAdmin } from './workers.ts'

/** A change of queue settings; omitted settings stay as they are. */
export interface QueueChange {
  readonly paused?: boolean | undefined
  readonly defaultTimeoutMs?: number | null | undefined
  readonly maxTimeoutMs?: number | null | undefined
  readonly rate?: Rate | null | undefined
}

export interface QueueAdmin {
  /** Every queue of the project that has lanes, workers or settings. */
  list(project: string): Promise<readonly WireQueue[]>
  change(by: RequestedBy, queue: string, change: QueueChange): Promise<WireQueue>
  /** All queues of the project at once. */
  pauseAll(by: RequestedBy, paused: boolean): Promise<void>
}

export function createQueueAdmin(deps: {
  readonly store: QueueStore
  readonly catalog: CatalogCache
  readonly laneIndex: LaneIndex
  readonly queueSettings: QueueSettingsCache
  readonly workers: WorkerAdmin
  /** A setting changed here: this node must know paused queues before it answers. */
  onChange(): Promise<void>
}): QueueAdmin {
  const { store, catalog, laneIndex, queueSettings, workers } = deps

  const list = async (project: string): Promise<WireQueue[]> => {
    const depths = new Map<string, number>()
    for (const { laneId, ready } of await store.laneDepths()) {
      const lane = await catalog.lane(laneId)
      if (lane?.project === project) depths.set(lane.queue, (depths.get(lane.queue) ?? 0) + ready)
    }
    const serving = new Map<string, number>()
    for (const { queues } of await workers.list(project)) {
      for (const queue of queues) serving.set(queue, (serving.get(queue) ?? 0) + 1)
    }
    const names = new Set([...depths.keys(), ...serving.keys(), ...queueSettings.namesIn(project)])
    for (const { project: of, queue } of laneIndex.lanes()) if (of === project) names.add(queue)
    names.delete(ALL_QUEUES)
    return [...names].sort().map((name) => ({
      ...show(
        name,
        queueSettings.settingOf(project, name),
        queueSettings.isPaused({ project, queue: name }),
      ),
      ready: depths.get(name) ?? 0,
      workers: serving.get(name) ?? 0,
    }))
  }

  const put = async (by: RequestedBy, queue: string, change: QueueChange, action: string) => {
    const projectId = await catalog.project(by.project)
    await queueSettings.refresh()
    const before = queueSettings.settingOf(by.project, queue)
    const setting: QueueSetting = {
      projectId,
      name: queue,
      paused: change.paused ?? before?.paused ?? false,
      defaultTimeoutMs: kept(change.defaultTimeoutMs, before?.defaultTimeoutMs),
      maxTimeoutMs: kept(change.maxTimeoutMs, before?.maxTimeoutMs),
      rate: kept(change.rate, before?.rate),
    }
    const audit = auditEntryFor(by, projectId, action, queue, change)
    await store.putQueue({ ...setting, audit })
    await deps.onChange()
  }

  return {
    list,

    async change(by, queue, change) {
      const action = change.paused === undefined ? 'queue.put' : pauseAction(change.paused)
      await put(by, queue, change, action)
      const found = (await list(by.project)).find(({ name }) => name === queue)
      return found as WireQueue
    },

    pauseAll: (by, paused) => put(by, ALL_QUEUES, { paused }, pauseAction(paused)),
  }
}

function pauseAction(paused: boolean): string {
  return paused ? 'queue.pause' : 'queue.resume'
}

function kept<T>(given: T | null | undefined, before: T | null | undefined): T | null {
  return given === undefined ? (before ?? null) : given
}

function show(name: string, setting: QueueSetting | undefined, paused: boolean) {
  return {
    name,
    paused,
    default_timeout_ms: setting?.defaultTimeoutMs ?? null,
    max_timeout_ms: setting?.maxTimeoutMs ?? null,
    rate: setting?.rate ? showRate(setting.rate) : null,
  }
}

function showRate({ limit, perMs, burst }: Rate): NonNullable<WireQueue['rate']> {
  return { limit, per_ms: perMs, burst }
}
