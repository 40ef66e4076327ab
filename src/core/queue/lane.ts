/**
 * A lane is the unit that a claim reads: one combination of project, queue and worker requirements. Whether a worker
 * can run the work of a lane is decided here, before any row is read.
 */
export interface LaneSpec {
  readonly project: string
  readonly queue: string
  /** Labels that a worker must have, sorted and unique. */
  readonly labels: readonly string[]
  /** The executor: `handler:<job>`, `shell`, `http`, … */
  readonly executor: string
  /** Slots that one run takes. */
  readonly weight: number
}

export interface Lane extends LaneSpec {
  readonly id: number
}

/** The capabilities that a worker session offers. */
export interface Offer {
  /** Projects that it serves; empty for all. */
  readonly projects: readonly string[]
  /** Queues in order of preference: a later queue is served while the earlier ones are empty. */
  readonly queues: readonly string[]
  readonly labels: readonly string[]
  readonly executors: readonly string[]
  readonly slots: number
}

/** One text for each combination, independent of the order of labels: the key of the stored lane. */
export function laneKey(spec: LaneSpec): string {
  return JSON.stringify([
    spec.project,
    spec.queue,
    spec.labels.toSorted(),
    spec.executor,
    spec.weight,
  ])
}

/** The tier at which an offer serves a lane (0 is served first), or -1 if it never can. */
export function tierOf(offer: Offer, lane: LaneSpec): number {
  if (lane.weight > offer.slots) return -1
  if (offer.projects.length > 0 && !offer.projects.includes(lane.project)) return -1
  if (!offer.executors.includes(lane.executor)) return -1
  if (!lane.labels.every((label) => offer.labels.includes(label))) return -1
  return offer.queues.indexOf(lane.queue)
}
