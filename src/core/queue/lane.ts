/**
 * A lane is what a claim reads: one combination of who the work is for, where it waits and what a
 * worker needs to take it. Everything a claim could trip over is decided here, before any row is read.
 */
export interface LaneSpec {
  readonly project: string
  readonly queue: string
  /** Labels a worker must carry, sorted and unique. */
  readonly labels: readonly string[]
  /** What executes it: `handler:<job>`, later `shell`, `http`, … */
  readonly executor: string
  /** Slots one run takes. */
  readonly weight: number
}

export interface Lane extends LaneSpec {
  readonly id: number
}

/** What a worker session offers. */
export interface Offer {
  /** Projects it serves; empty for all. */
  readonly projects: readonly string[]
  /** Queues in order of preference: a later one is served while the earlier ones are empty. */
  readonly queues: readonly string[]
  readonly labels: readonly string[]
  readonly executors: readonly string[]
  readonly slots: number
}

/** One text per combination, whatever the order of its labels: the key under which it is interned. */
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
