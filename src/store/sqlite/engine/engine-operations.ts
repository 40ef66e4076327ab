import type { MaintenanceStore, Store } from '../../port.ts'
import type { Sync } from '../connection/sync.ts'

/** Maintenance runs in batches, so that ticks are served in between. */
interface MaintenanceBatches {
  /** True when another batch is left. */
  maintain(input: { mayDelete: boolean }): boolean
}

type Fact = 'kind' | 'version' | 'location' | 'ticksInFlight' | 'tickCap'
/** Answered without the writing connection. */
type WithoutWriter = keyof Pick<MaintenanceStore, 'maintain' | 'inspect' | 'freeBytes'>

/** What the engine does in one call, in the thread that has the writing connection. */
export type Operations = Sync<Omit<Store, Fact | 'close' | 'expectClock' | WithoutWriter>> &
  Readonly<MaintenanceBatches>

export type OperationName = keyof Operations
