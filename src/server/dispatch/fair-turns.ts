import type { LaneHint } from './lanes/lane-hint.ts'

/**
 * Turns by start-time fair queueing, between projects and between the lanes of each. A turn grows
 * with the served slots, the lowest is next, and `now` (the turn served last) is where a returning
 * lane starts. Absence earns no arrears and costs no position.
 */
export interface FairTurns {
  /** The smaller turn comes first. */
  ofProject(project: string): number
  ofLane(hint: LaneHint): number
  /** These slots were requested for the lane. */
  charge(hint: LaneHint, slots: number): void
  /** The lane did not use these slots: only served slots count. */
  refund(hint: LaneHint, slots: number): void
}

interface Project {
  turn: number
  /** Like the overall `now`, but between the lanes of the project. */
  now: number
}

export function createFairTurns(): FairTurns {
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
