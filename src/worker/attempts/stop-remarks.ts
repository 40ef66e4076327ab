import type { StopCause } from './handler.ts'

/** The line in an attempt's log when the attempt is told to stop. */
export const STOP_REMARKS: Record<StopCause, string> = {
  timeout: 'it ran out of time and is told to stop',
  cancelled: 'it was cancelled and is told to stop',
  draining: 'the worker is shutting down; it will be started again elsewhere',
  lease_lost: 'the lease was lost; it is ended',
}
