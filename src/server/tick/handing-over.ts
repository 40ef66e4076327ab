import { createHandOver, type HandingOver, type HandOver } from './hand-over.ts'
import { createHeldGrants, type HeldGrants, type HoldingGrants } from './held-grants.ts'

/** Runs that become durable by another road than a tick, and how they reach workers that wait. */
export function createHandingOver(deps: HoldingGrants & Omit<HandingOver, 'held'>): {
  readonly handOver: HandOver
  readonly giveBackHeld: HeldGrants['giveBack']
} {
  const held = createHeldGrants(deps)
  return { handOver: createHandOver({ ...deps, held }), giveBackHeld: held.giveBack }
}
