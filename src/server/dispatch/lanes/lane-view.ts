import { tierOf, type Offer } from '../../../core/queue/lane.ts'
import type { LaneHint } from './lane-hint.ts'

/** Open lanes of one of a worker's queues, by project. */
export interface OpenTier {
  readonly tier: number
  readonly projects: readonly OpenProject[]
}

export interface OpenProject {
  readonly project: string
  readonly lanes: readonly LaneHint[]
}

/** The lanes one offer can serve. Workers with the same offer share the view. */
export interface LaneView {
  /** Index of its queue in the offer; -1 for a lane it cannot serve. */
  tierOf(hint: LaneHint): number
  /**
   * Lanes that may have work and are neither paused nor rate-limited, in the order of the offer's
   * queues.
   */
  open(): readonly OpenTier[]
}

export interface LaneViews {
  learn(hint: LaneHint): void
  /** The lane may have been opened or closed. */
  changed(hint: LaneHint): void
  of(offer: Offer): LaneView
}

const NOTHING_OPEN: readonly OpenTier[] = []

/**
 * Which lanes an offer serves changes when lanes are added; which of them are open changes with
 * every tick. So the first is computed once per lane, and the second from the open lanes alone,
 * once for all workers with the same offer.
 */
export function createLaneViews(): LaneViews {
  const lanes: LaneHint[] = []
  const open = new Set<LaneHint>()
  const views = new WeakMap<Offer, LaneView>()
  let changes = 0

  const createView = (offer: Offer): LaneView => {
    const tiers = new Map<LaneHint, number>()
    let known = 0
    let seen = -1
    let found = NOTHING_OPEN
    const tierIn = (hint: LaneHint) => {
      for (; known < lanes.length; known += 1) {
        const lane = lanes[known] as LaneHint
        const tier = tierOf(offer, lane.lane)
        if (tier >= 0) tiers.set(lane, tier)
      }
      return tiers.get(hint) ?? -1
    }
    return {
      tierOf: tierIn,
      open() {
        if (open.size === 0) return NOTHING_OPEN
        if (seen !== changes) found = group(open, tierIn)
        seen = changes
        return found
      },
    }
  }

  const changed = (hint: LaneHint) => {
    const isOpen = hint.mayHaveWork && !hint.isPaused && hint.limitedUntilMono === null
    if (isOpen === open.has(hint)) return
    changes += 1
    if (isOpen) open.add(hint)
    else open.delete(hint)
  }

  return {
    learn(hint) {
      lanes.push(hint)
      changed(hint)
    },
    changed,
    of(offer) {
      const known = views.get(offer)
      if (known) return known
      const fresh = createView(offer)
      views.set(offer, fresh)
      return fresh
    },
  }
}

function group(open: Iterable<LaneHint>, tierIn: (hint: LaneHint) => number): OpenTier[] {
  const tiers = new Map<number, Map<string, LaneHint[]>>()
  for (const hint of open) {
    const tier = tierIn(hint)
    if (tier < 0) continue
    const projects = tiers.get(tier) ?? new Map<string, LaneHint[]>()
    tiers.set(tier, projects)
    const { project } = hint.lane
    const lanes = projects.get(project)
    if (lanes) lanes.push(hint)
    else projects.set(project, [hint])
  }
  return [...tiers]
    .sort(([a], [b]) => a - b)
    .map(([tier, projects]) => ({
      tier,
      projects: Array.from(projects, ([project, lanes]) => ({ project, lanes })),
    }))
}
