import type { Execution } from '../../core/worker/execution.ts'
import { publicId } from '../../core/ids.ts'
import { readPlacement } from '../../core/worker/labels.ts'
import type { Offer } from '../../core/queue/lane.ts'
import type { WireWorker } from '../../core/wire/views.ts'
import { formatTime } from '../../core/wire/runs.ts'
import type { NodeStore, SessionRecord } from '../../store/port.ts'

export interface Workers {
  /** Workers that serve this project, on whichever node they are. */
  list(project: string): Promise<readonly WireWorker[]>
}

export function createWorkers(store: Pick<NodeStore, 'listSessions'>): Workers {
  return {
    async list(project) {
      const sessions = await store.listSessions()
      return (
        sessions
          .map(show)
          .filter(({ projects }) => serves(projects, project))
          // Whom else it serves is not this project's business.
          .map((worker) => ({ ...worker, projects: worker.projects.length === 0 ? [] : [project] }))
      )
    },
  }
}

function serves(projects: readonly string[], project: string): boolean {
  return projects.length === 0 || projects.includes(project)
}

function show(record: SessionRecord): WireWorker {
  const { id, name, offer, since, nodeName, running, used, quarantined } = record
  const { queues, labels, executors, projects, slots, execution } = readOffer(offer)
  return {
    session: publicId('ses', id),
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

/** What a node keeps of a worker's introduction: the offer, and what people may want to know. */
interface StoredOffer extends Offer {
  readonly execution?: Execution
}

const NOTHING: StoredOffer = { projects: [], queues: [], labels: [], executors: [], slots: 0 }

function readOffer(offer: string | null): StoredOffer {
  return offer === null ? NOTHING : (JSON.parse(offer) as StoredOffer)
}
