import { createHandOver, type HandingOver, type HandOver } from './direct-assignment.ts'
import { createHeldGrants, type HeldGrants, type HoldingGrants } from './scheduled-assignments.ts'

/** Runs that become durable by another road than a tick, and how they reach workers that wait. */
export function createHandingOver(deps: HoldingGrants & Omit<HandingOver, 'held'>): {
  readonly handOver: HandOver
  readonly giveBackHeld: HeldGrants['giveBack']
} {
  const held = createHeldGrants(deps)
  return { handOver: createHandOver({ ...deps, held }), giveBackHeld: held.giveBack }
}
