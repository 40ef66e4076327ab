import {
  createDirectAssignment,
  type DirectAssignmentDeps,
  type AssignDirectly,
} from './direct-assignment.ts'
import {
  createScheduledAssignments,
  type ScheduledAssignments,
  type ScheduledAssignmentsDeps,
} from './scheduled-assignments.ts'

/** Direct assignment of runs that become durable outside of a tick. */
export function createAssignmentSubsystem(
  deps: ScheduledAssignmentsDeps & Omit<DirectAssignmentDeps, 'scheduled'>,
): {
  readonly assignDirectly: AssignDirectly
  readonly giveBackScheduled: ScheduledAssignments['giveBack']
} {
  const scheduled = createScheduledAssignments(deps)
  return {
    assignDirectly: createDirectAssignment({ ...deps, scheduled }),
    giveBackScheduled: scheduled.giveBack,
  }
}
