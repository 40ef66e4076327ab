import type { StopCause } from './handler.ts'

/** The line that the worker adds to an attempt's log when it stops the attempt. */
export const STOP_MESSAGES: Record<StopCause, string> = {
  timeout: 'it ran out of time and is being stopped',
  cancelled: 'it was cancelled and is being stopped',
  draining: 'the worker is shutting down; it will be started again elsewhere',
  lease_lost: 'the lease was lost; it is ended',
}
