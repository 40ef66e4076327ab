/** `punctual/worker`: run your own functions as jobs. */
export { createWorker, type StopReason, type Worker, type WorkerStats } from './worker.ts'
export type { WorkerOptions } from './options.ts'
export type { ProcessOptions } from './processes/processes.ts'
export {
  AttemptStopped,
  FatalError,
  type Handler,
  type HandlerContext,
  type StopCause,
} from './handler.ts'
