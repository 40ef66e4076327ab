import type { LaneHint } from './lane-index.ts'

/**
 * Turns, after start-time fair queueing, between projects and between the lanes of each: a turn grows
 * with what was served, the lowest is next, and `now` (the turn served last) is where whoever was
 * away starts again. Absence neither earns arrears nor costs a place.
 */
export interface Turns {
  /** Smaller comes first. */
  ofProject(project: string): number
  ofLane(hint: LaneHint): number
  /** These slots were asked for on behalf of the lane. */
  charge(hint: LaneHint, slots: number): void
  /** So many of them it did not need: what was not there was not served. */
  refund(hint: LaneHint, slots: number): void
}

interface Project {
  turn: number
  /** As the `now` of all, between its lanes. */
  now: number
}

export function createTurns(): Turns {
  const projects = new Map<string, Project>()
  let now = 0

  const ofProject = (project: string) => Math.max(projects.get(project)?.turn ?? 0, now)
  const ofLane = ({ turn, lane }: LaneHint) => Math.max(turn, projects.get(lane.project)?.now ?? 0)

  return {
    ofProject,
    ofLane,
    charge(hint, slots) {
      const { project } = hint.lane
      const laneTurn = ofLane(hint)
      now = ofProject(project)
      projects.set(project, { turn: now + slots, now: laneTurn })
      hint.turn = laneTurn + slots
    },
    refund(hint, slots) {
      const project = projects.get(hint.lane.project)
      if (project) project.turn -= slots
      hint.turn -= slots
    },
  }
}
