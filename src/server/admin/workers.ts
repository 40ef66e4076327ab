import { publicId } from '../../core/ids.ts'
import type { Offer } from '../../core/lane.ts'
import type { WireWorker } from '../../core/views.ts'
import { formatTime } from '../../core/wire.ts'
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

function show({ id, name, offer, since, nodeName, running }: SessionRecord): WireWorker {
  const { queues, labels, executors, projects, slots } = readOffer(offer)
  return {
    session: publicId('ses', id),
    name,
    queues,
    labels: Object.fromEntries(labels.map(split)),
    executors,
    projects,
    slots,
    running,
    node: nodeName,
    registered_at: formatTime(since, 'registered_at'),
  }
}

const NOTHING: Offer = { projects: [], queues: [], labels: [], executors: [], slots: 0 }

function readOffer(offer: string | null): Offer {
  return offer === null ? NOTHING : (JSON.parse(offer) as Offer)
}

function split(label: string): [name: string, value: string] {
  const at = label.indexOf('=')
  return [label.slice(0, at), label.slice(at + 1)]
}
