import type { Execution } from '../../core/worker/execution.ts'
import { readPlacement } from '../../core/worker/labels.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { WireWorker } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { NodeStore, SessionRecord } from '../../store/port.ts'
import type { WorkerIds } from '../workers/worker-ids.ts'

export interface WorkerAdmin {
  /** Workers that serve this project, on any node. */
  list(project: string): Promise<readonly WireWorker[]>
}

export function createWorkerAdmin(
  store: Pick<NodeStore, 'listSessions'>,
  workerIds: WorkerIds,
): WorkerAdmin {
  return {
    async list(project) {
      const sessions = await store.listSessions()
      return (
        sessions
          .map((record) => show(record, workerIds))
          .filter(({ projects }) => serves(projects, project))
          // A project must not learn which other projects a worker serves.
          .map((worker) => ({ ...worker, projects: worker.projects.length === 0 ? [] : [project] }))
      )
    },
  }
}

function serves(projects: readonly string[], project: string): boolean {
  return projects.length === 0 || projects.includes(project)
}

function show(record: SessionRecord, workerIds: WorkerIds): WireWorker {
  const { id, name, offer, since, nodeName, running, used, quarantined } = record
  const { queues, labels, executors, projects, slots, execution } = readOffer(offer)
  return {
    id: workerIds(id),
    name,
    queues,
    ...readPlacement(labels),
    executors,
    projects,
    state: quarantined === null ? 'active' : 'quarantined',
    reason: quarantined,
    slots,
    running,
    used,
    node: nodeName,
    registered_at: formatTime(since, 'registered_at'),
    execution: execution ?? null,
  }
}

/** The stored part of a worker's registration: its offer, and details for users. */
interface StoredOffer extends Offer {
  readonly execution?: Execution
}

const NOTHING: StoredOffer = { projects: [], queues: [], labels: [], executors: [], slots: 0 }

function readOffer(offer: string | null): StoredOffer {
  return offer === null ? NOTHING : (JSON.parse(offer) as StoredOffer)
}
